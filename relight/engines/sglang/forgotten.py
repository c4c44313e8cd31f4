"""Checks that SGLang's own checks lack: it starts, loads for minutes, and then fails. Pure.

In 0.5.10, 0.5.12 and 0.5.23 all of these pass `check_server_args` and fail later, or never.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relight.core.build import FlagFault
from relight.core.flags import FlagValue
from relight.engines.sglang.names import canonical

# Fractions of something: above 1 (or not above 0) they mean nothing.
_FRACTIONS = ("mem-fraction-static", "swa-full-tokens-ratio")
_POSITIVE = ("max-running-requests", "context-length", "max-total-tokens", "page-size", "tp-size")
_NEEDS_DRAFT = frozenset({"EAGLE", "EAGLE3", "STANDALONE", "DFLASH"})
# Models that carry their own draft layers: EAGLE and NEXTN need no second checkpoint there.
_OWN_DRAFT = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers")


def forgotten(
    flags: Mapping[str, FlagValue],
    config: Mapping[str, object] | None = None,
    gpus: int | None = None,
) -> tuple[FlagFault, ...]:
    """Return what SGLang accepts and should not.

    `config` is the model's config.json, where the host has it; `gpus` the number of GPUs that the
    service has. Both are only used where they are given.
    """
    plain = {canonical(name): value for name, value in flags.items()}
    faults = [
        *_ranges(plain),
        *_nodes(plain),
        *_draft(plain, config),
        *_sizes(plain, gpus),
        *(_heads(plain, _text_part(config)) if config is not None else ()),
    ]
    return tuple(faults)


def _fault(flag: str, message: str) -> FlagFault:
    return FlagFault(flag=flag, kind="forgotten", message=message)


def number(value: object) -> float | None:
    """Return a number, also one that is written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _whole(flags: Mapping[str, FlagValue], name: str, default: int = 1) -> int:
    value = number(flags.get(name))
    return default if value is None or value != int(value) else int(value)


def _ranges(flags: Mapping[str, FlagValue]) -> Iterator[FlagFault]:
    for name in _FRACTIONS:
        value = number(flags.get(name))
        if value is not None and not 0 < value <= 1:
            yield _fault(name, f"--{name} {value:g} is no fraction: write more than 0, at most 1")
    for name in _POSITIVE:
        value = number(flags.get(name))
        if value is not None and value < 1:
            yield _fault(name, f"--{name} {value:g} lets nothing run: write 1 or more, or leave it")
    chunk = number(flags.get("chunked-prefill-size"))
    if chunk is not None and (chunk == 0 or chunk < -1):
        yield _fault("chunked-prefill-size", "--chunked-prefill-size is -1 (off) or positive")


def _nodes(flags: Mapping[str, FlagValue]) -> Iterator[FlagFault]:
    nodes = _whole(flags, "nnodes")
    if nodes > 1 and not flags.get("dist-init-addr"):
        yield _fault("nnodes", f"--nnodes {nodes} needs --dist-init-addr HOST:PORT of node 0")
    rank = number(flags.get("node-rank"))
    if rank is not None and not 0 <= rank < nodes:
        yield _fault("node-rank", f"--node-rank {rank:g} is not below --nnodes {nodes}")


def _draft(
    flags: Mapping[str, FlagValue], config: Mapping[str, object] | None
) -> Iterator[FlagFault]:
    algorithm = str(flags.get("speculative-algorithm", "")).upper()
    if algorithm in _NEEDS_DRAFT and not flags.get("speculative-draft-model-path"):
        text = _text_part(config) if config is not None else {}
        if algorithm == "EAGLE" and any(text.get(name) for name in _OWN_DRAFT):
            return
        yield _fault(
            "speculative-algorithm",
            f"--speculative-algorithm {algorithm} needs --speculative-draft-model-path; a model "
            "with draft layers of its own takes NEXTN",
        )
    if not algorithm and flags.get("speculative-draft-model-path"):
        yield _fault(
            "speculative-draft-model-path",
            "--speculative-draft-model-path does nothing without --speculative-algorithm",
        )


def _sizes(flags: Mapping[str, FlagValue], gpus: int | None) -> Iterator[FlagFault]:
    tp, pp, ep, nodes = (
        _whole(flags, "tp-size"),
        _whole(flags, "pp-size"),
        _whole(flags, "ep-size"),
        _whole(flags, "nnodes"),
    )
    dp = _whole(flags, "dp-size")
    attention = flags.get("enable-dp-attention") is True
    if ep > 1 and tp % ep:
        yield _fault("ep-size", f"--ep-size {ep} does not divide --tp-size {tp}")
    if attention and tp % dp:
        yield _fault("dp-size", f"--dp-size {dp} does not divide --tp-size {tp} (dp attention)")
    world = tp * pp * (1 if attention else dp)
    if gpus is not None and nodes == 1 and world > gpus:
        yield _fault("tp-size", f"the flags ask for {world} GPUs, and the service has {gpus}")


def _text_part(config: Mapping[str, object]) -> Mapping[str, object]:
    """Return the part of a config that holds the language model."""
    for name in ("text_config", "llm_config", "language_config"):
        part = config.get(name)
        if isinstance(part, Mapping):
            return part
    return config


def _heads(flags: Mapping[str, FlagValue], config: Mapping[str, object]) -> Iterator[FlagFault]:
    tp, dp = _whole(flags, "tp-size"), _whole(flags, "dp-size")
    if flags.get("enable-dp-attention") is True and dp and tp % dp == 0:
        tp //= dp
    heads = number(config.get("num_attention_heads"))
    if heads and heads % tp:
        yield _fault("tp-size", f"--tp-size {tp} does not divide the model's {heads:g} heads")
    groups = number(config.get("num_key_value_heads"))
    if groups and groups % tp and tp % groups:
        yield _fault("tp-size", f"--tp-size {tp} does not fit the model's {groups:g} KV heads")
    layers = number(config.get("num_hidden_layers"))
    pp = _whole(flags, "pp-size")
    if layers and pp > layers:
        yield _fault("pp-size", f"--pp-size {pp} is more than the model's {layers:g} layers")
