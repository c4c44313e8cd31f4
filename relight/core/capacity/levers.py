"""Which flags cannot help this model on this hardware, and why; each rule names its source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from relight.core.capacity.model_shape import Shape
from relight.core.flags import Flags
from relight.core.model import Frozen


@dataclass(frozen=True)
class Setting:
    """What a rule may look at: the model, the flags, the GPUs' compute capability and number."""

    shape: Shape
    flags: Flags
    capability: str
    tp: int


class NoHelp(Frozen):
    """One flag that cannot speed up decode here, the reason, and whether it is set now."""

    flag: str
    why: str
    set_now: bool


@dataclass(frozen=True)
class _Rule:
    flags: tuple[str, ...]
    why: str
    applies: Callable[[Setting], bool]


def _dense(setting: Setting) -> bool:
    return setting.shape.experts is None


def _always(setting: Setting) -> bool:
    return bool(setting.flags is not None)


def _before_hopper(setting: Setting) -> bool:
    major = setting.capability.partition(".")[0]
    return major.isdigit() and int(major) < 9


def _one_gpu(setting: Setting) -> bool:
    return setting.tp == 1


def _no_state(setting: Setting) -> bool:
    return setting.shape.linear is None


_RULES: tuple[_Rule, ...] = (
    _Rule(
        ("enable-single-batch-overlap",),
        "read only by mixture-of-experts code (SGLang 0.5.12, 0.5.23); this model is dense",
        _dense,
    ),
    _Rule(
        ("enable-two-batch-overlap",),
        "read only by mixture-of-experts code (SGLang 0.5.12, 0.5.23); this model is dense",
        _dense,
    ),
    _Rule(
        ("enforce-piecewise-cuda-graph", "cuda-graph-backend-prefill"),
        "these graphs are captured for prefill only: decode never runs them",
        _always,
    ),
    _Rule(
        ("chunked-prefill-size", "schedule-policy", "mem-fraction-static"),
        "acts on prefill, queueing or cache room, not on a decode round of one stream",
        _always,
    ),
    _Rule(
        ("enable-flashinfer-allreduce-fusion", "enable-nccl-nvls"),
        "needs compute capability 9.0 or later",
        _before_hopper,
    ),
    _Rule(
        ("disable-custom-all-reduce",),
        "there is no all-reduce with one GPU",
        _one_gpu,
    ),
    _Rule(
        ("mamba-full-memory-ratio", "max-mamba-cache-size"),
        "this model has no linear-attention states",
        _no_state,
    ),
    _Rule(
        ("num-continuous-decode-steps", "triton-attention-reduce-in-fp32"),
        "accepted by the parser and read nowhere (SGLang 0.5.12 and 0.5.23)",
        _always,
    ),
)


def no_help(setting: Setting) -> tuple[NoHelp, ...]:
    """Return the flags that cannot speed up decode in this setting, those set now first."""
    found = [
        NoHelp(flag=flag, why=rule.why, set_now=flag in setting.flags)
        for rule in _RULES
        if rule.applies(setting)
        for flag in rule.flags
    ]
    return tuple(sorted(found, key=lambda item: not item.set_now))
