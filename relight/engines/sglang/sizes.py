"""How many GPUs SGLang's flags spread over, and how much one running server takes. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from relight.core.engine import Limits, Spread
from relight.core.flags import Flags
from relight.engines.sglang.names import canonical

COMPARED: tuple[str, ...] = ("dtype", "quantization", "kv-cache-dtype", "context-length", "tp-size")
"""They change what is computed, or on how much hardware."""
_SPREADING = ("tp-size", "pp-size", "dp-size")


def spread(flags: Flags) -> Spread | None:
    """Return how many GPUs these flags take: tensor x pipeline x data parallel (0.5.10 to 0.5.23).

    Data-parallel attention shares the GPUs of tensor parallelism. None for several nodes, which
    are not counted, and for a size that is no number.
    """
    written = {canonical(name): (name, value) for name, value in flags.items()}
    if "nnodes" in written:
        return None
    sizes: list[int] = []
    for size in _SPREADING:
        _, value = written.get(size, ("", 1))
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        sizes.append(value)
    tensor, pipeline, data = sizes
    shared = bool(written.get("enable-dp-attention", ("", False))[1])
    return Spread(
        gpus=tensor * pipeline * (1 if shared else data),
        flags=tuple(written[size][0] for size in _SPREADING if size in written),
        by=_SPREADING[0],
    )


def limits(info: Mapping[str, JsonValue]) -> Limits:
    """Return what a server takes, from /server_info of 0.5.10 to 0.5.23.

    Its scheduler says how many requests run at once after all cuts; the argument of the same name
    is what was asked for, and no limit where nothing was. `max_req_input_len` is six tokens below
    the length of a request (managers/tp_worker.py).
    """
    states = info.get("internal_states")
    counts = [
        count
        for state in (states if isinstance(states, list) else [])
        if isinstance(state, dict)
        and (count := _whole(state.get("effective_max_running_requests_per_dp"))) is not None
    ]
    longest = _whole(info.get("max_req_input_len"))
    return Limits(
        running_requests=sum(counts) if counts else _whole(info.get("max_running_requests")),
        context_length=longest + 6 if longest is not None else _whole(info.get("context_length")),
    )


def _whole(value: JsonValue) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        return None
    return value
