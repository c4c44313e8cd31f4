"""How SGLang divides a GPU's memory: the static share, state slots, KV tokens, running requests.

Read in SGLang 0.5.10 and 0.5.12 (`model_executor/model_runner_kv_cache_mixin.py`,
`pool_configurator.py`, `server_args._handle_gpu_memory_settings`) and 0.5.23
(`mem_cache/kv_cache_configurator.py`); checked against starts of 0.5.12 on one and two H200.
"""

from __future__ import annotations

from dataclasses import dataclass

from relight.core.capacity.model_shape import Shape
from relight.core.capacity.model_weights import GIB
from relight.core.capacity.serving_flags import Serving

STATES_PER_REQUEST = 3
STATES_OVERLAP, STATES_NO_OVERLAP = 2, 1
DEFAULT_RUNNING_WITH_DRAFTS = 48
"""`max_running_requests` with speculation and no flag (0.5.12 `_handle_speculative_decoding`)."""
_KV_BYTES = {"fp8_e5m2": 1.0, "fp8_e4m3": 1.0, "fp4_e2m1": 0.5625}
_CLASSES = ((20, 2048, 8, 8), (35, 2048, 24, 80), (60, 4096, 32, 160), (160, 8192, 256, 512))
"""Memory below GiB -> chunked prefill size, largest graph batch for tp < 4 and for more."""


@dataclass(frozen=True)
class Defaults:
    """What the engine takes where no flag says: prefill chunk, graph batch, static share."""

    chunk: int
    graph_batch: int
    memory_fraction: float


def kv_bytes(shape: Shape, serving: Serving) -> float:
    """Return bytes a token in the KV cache of one GPU; a draft's cache is not part of it."""
    size = _KV_BYTES.get(serving.kv_dtype, shape.dtype_bytes)
    if shape.latent:
        return (shape.latent.kv_rank + shape.latent.rope_dim) * shape.full_layers * size
    heads = max(1, shape.kv_heads // serving.tp)
    return heads * 2 * shape.head_dim * shape.full_layers * size


def state_bytes(shape: Shape, tp: int) -> float:
    """Return bytes of one linear-attention state (recurrent and convolution) on one GPU."""
    linear = shape.linear
    if linear is None:
        return 0.0
    recurrent = linear.value_heads / tp * linear.value_dim * linear.key_dim * linear.state_bytes
    channels = linear.value_heads * linear.value_dim + 2 * linear.key_heads * linear.key_dim
    convolution = channels / tp * (linear.conv_kernel - 1) * 2.0
    return linear.layers * (recurrent + convolution)


def states_a_request(serving: Serving) -> int:
    """Return how many state slots one running request takes."""
    if not serving.radix:
        return 1
    if not serving.extra_buffer:
        return STATES_PER_REQUEST
    return STATES_PER_REQUEST + (STATES_OVERLAP if serving.overlap else STATES_NO_OVERLAP)


def defaults(shape: Shape, serving: Serving, memory_total_mib: float) -> Defaults:
    """Return what SGLang 0.5.12 takes where no flag says (`_handle_gpu_memory_settings`)."""
    chunk, graph_batch = 16384, 512
    for below, size, small, large in _CLASSES:
        if memory_total_mib < below * 1024:
            chunk, graph_batch = size, small if serving.tp < 4 else large
            break
    chunk = serving.chunk or chunk
    graph_batch = serving.graph_batch or graph_batch
    reserved = 512 + max(chunk, 2048) * 1.5 + graph_batch * 2 + serving.tp / 8 * 1024
    if has_piecewise(shape, serving):
        reserved += 1536 if shape.latent else piecewise_sizes(chunk) * 8
    if memory_total_mib > 60 * 1024:
        reserved = max(reserved, 10 * 1024)
    if serving.algorithm and serving.algorithm.upper() != "NGRAM":
        reserved += 6144 if serving.algorithm.upper() == "STANDALONE" else 4096
    fraction = round((memory_total_mib - reserved) / memory_total_mib, 3)
    if shape.multimodal and not serving.text_only:
        fraction *= 0.95
    return Defaults(chunk, graph_batch, serving.memory_fraction or fraction)


def has_piecewise(shape: Shape, serving: Serving) -> bool:
    """Say whether piecewise graphs are captured (0.5.12: never for multimodal unless enforced)."""
    return serving.piecewise if serving.piecewise is not None else not shape.multimodal


def piecewise_sizes(most: int) -> int:
    """Return how many sizes piecewise graphs are captured for, up to `most` tokens."""
    steps = ((4, 33, 4), (48, 257, 16), (288, 513, 32), (576, 1025, 64), (1280, 4097, 256))
    sizes = [size for begin, end, step in steps for size in range(begin, end, step)]
    sizes += range(4608, most + 1, 512)
    return sum(size <= most for size in sizes)


@dataclass(frozen=True)
class Pools:
    """How the memory for caches is divided: slots of states, and bytes on one GPU."""

    slots: int
    states: float
    draft_states: float
    kv: float


def divide(rest: float, shape: Shape, serving: Serving, version: tuple[int, ...]) -> Pools:
    """Divide `rest` bytes of one GPU between linear-attention states and the KV cache.

    `serving.running` must be set with speculation: SGLang reserves states for each draft token of
    each running request. Versions from 0.5.23 on solve for states and draft states together.
    """
    one = state_bytes(shape, serving.tp)
    if not one:
        return Pools(0, 0.0, 0.0, rest)
    if version >= (0, 5, 23):
        return _divide_jointly(rest, one, serving)
    drafts = one * (serving.running or 0) * serving.draft_tokens
    left = rest - drafts
    if serving.state_slots is not None:
        slots = serving.state_slots
    elif not serving.radix and serving.running is not None:
        slots = serving.running
    else:
        slots = int(left * serving.state_ratio / (1 + serving.state_ratio) // one)
    return Pools(slots, slots * one, drafts, left - slots * one)


def _divide_jointly(rest: float, one: float, serving: Serving) -> Pools:
    ratio, drafted = states_a_request(serving), serving.draft_tokens
    if serving.state_slots is not None:
        slots = serving.state_slots
    elif not serving.radix and serving.running is not None:
        slots = serving.running
    else:
        budget = rest * serving.state_ratio / (1 + serving.state_ratio)
        slots = int((budget - one * (1 + drafted)) // (one * (1 + drafted / ratio)))
    running = min(serving.running or slots // ratio, slots // ratio)
    drafts = one * (running + 1) * drafted if drafted else 0.0
    return Pools(slots, slots * one, drafts, rest - drafts - slots * one)


def most_running(tokens: int, context: int, asked: int | None, version: tuple[int, ...]) -> int:
    """Return the requests that the token pool lets run at once (`_resolve_max_num_reqs`)."""
    estimated = max(min(int(tokens / max(1, context) * 512), 4096), 2048)
    if asked is None:
        return min(estimated, tokens // 2)
    return min(asked, tokens // 2 if version >= (0, 5, 23) else estimated)


def reserve_bytes(free_gib: float, fraction: float) -> float:
    """Return the bytes of one GPU that stay outside of the static share."""
    return free_gib * (1 - fraction) * GIB
