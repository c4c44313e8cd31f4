"""The flags that decide memory and speed, under the names that SGLang gave them over time."""

from __future__ import annotations

from relight.core.flags import Flags
from relight.core.model import Frozen

_NAMES: dict[str, tuple[str, ...]] = {
    "tp": ("tp-size", "tensor-parallel-size", "tp"),
    "memory_fraction": ("mem-fraction-static",),
    "running": ("max-running-requests",),
    "context": ("context-length",),
    "tokens": ("max-total-tokens",),
    "state_ratio": ("mamba-full-memory-ratio",),
    "state_slots": ("max-mamba-cache-size",),
    "page": ("page-size",),
    "chunk": ("chunked-prefill-size",),
    "offload_gib": ("cpu-offload-gb",),
    "graph_batch": ("cuda-graph-max-bs-decode", "cuda-graph-max-bs"),
    "draft_steps": ("speculative-num-steps",),
    "draft_tokens": ("speculative-num-draft-tokens",),
}
_STRATEGY = ("mamba-radix-cache-strategy", "mamba-scheduler-strategy")


class Serving(Frozen):
    """What a set of flags asks for; None where it leaves the choice to the engine."""

    tp: int = 1
    memory_fraction: float | None = None
    running: int | None = None
    context: int | None = None
    tokens: int | None = None
    state_ratio: float = 0.9
    state_slots: int | None = None
    page: int = 1
    chunk: int | None = None
    graph_batch: int | None = None
    algorithm: str = ""
    draft_steps: int = 0
    draft_tokens: int = 0
    kv_dtype: str = "auto"
    radix: bool = True
    overlap: bool = True
    extra_buffer: bool = False
    piecewise: bool | None = None
    text_only: bool = False
    offload_gib: float = 0.0
    """Weights that each GPU leaves in the host's memory (cpu-offload-gb)."""


def read_flags(flags: Flags) -> Serving:
    """Return what flags ask for; raises ValueError for a number that is none."""
    numbers = {field: _number(flags, names) for field, names in _NAMES.items()}
    fields = {field: value for field, value in numbers.items() if value is not None}
    algorithm = str(flags.get("speculative-algorithm") or "")
    if not algorithm:
        fields.pop("draft_steps", None)
        fields.pop("draft_tokens", None)
    steps = int(fields.get("draft_steps", 0))
    if steps:
        fields["draft_tokens"] = fields.get("draft_tokens", steps + 1)
    strategy = next((str(flags[name]) for name in _STRATEGY if name in flags), "")
    piecewise = None
    if flags.get("enforce-piecewise-cuda-graph"):
        piecewise = True
    elif flags.get("disable-piecewise-cuda-graph"):
        piecewise = False
    return Serving.model_validate(
        {
            **fields,
            "algorithm": algorithm,
            "kv_dtype": str(flags.get("kv-cache-dtype", "auto")),
            "radix": not flags.get("disable-radix-cache", False),
            "overlap": not flags.get("disable-overlap-schedule", False),
            "extra_buffer": strategy.startswith("extra_buffer"),
            "piecewise": piecewise,
            "text_only": bool(flags.get("language-only") or flags.get("language-model-only")),
        }
    )


def _number(flags: Flags, names: tuple[str, ...]) -> float | int | None:
    name = next((name for name in names if name in flags), None)
    if name is None:
        return None
    value = flags[name]
    if isinstance(value, bool | tuple):
        raise ValueError(f"{name}: {value!r} is not a number")
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"{name}: {value!r} is not a number") from None
    return int(number) if number == int(number) else number
