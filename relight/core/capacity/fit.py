"""Will it fit? Memory of one GPU, line by line, and what limits context and running requests."""

from __future__ import annotations

from math import ceil
from typing import Literal

from relight.core.capacity.capacity_facts import CapacityFacts
from relight.core.capacity.memory_rules import (
    DEFAULT_RUNNING_WITH_DRAFTS,
    Pools,
    defaults,
    divide,
    kv_bytes,
    most_running,
    reserve_bytes,
    state_bytes,
    states_a_request,
)
from relight.core.capacity.model_shape import Shape, read_shape
from relight.core.capacity.model_weights import GIB, Weights, of_shape, of_tensors, of_total
from relight.core.capacity.serving_flags import Serving, read_flags
from relight.core.capacity.version_numbers import release_numbers
from relight.core.model import Frozen

ENGINE_CONTEXT_GIB = 0.65
COLLECTIVES_GIB = 0.85
"""What CUDA and, with several GPUs, NCCL take before the weights: 0.5.12 on H200, one and two."""

Source = Literal["files", "config", "rule", "estimate"]


class FitLine(Frozen):
    """One use of a GPU's memory in GiB; `estimate` marks what no rule of the engine states."""

    what: str
    gib: float
    source: Source
    inside: Literal["static", "reserve"] = "static"


class Fit(Frozen):
    """The answer: does it fit, how many tokens and requests, and which number limits them."""

    fits: bool
    free_gib: float
    memory_fraction: float
    lines: tuple[FitLine, ...]
    kv_tokens: int
    context_asked: int
    largest_context: int
    running_asked: int | None
    running: int
    running_limit: str
    full_contexts: int
    state_ratio_for_asked: float | None = None
    kv_tokens_for_asked: int | None = None


def weights_of(facts: CapacityFacts, shape: Shape) -> Weights:
    """Return the model's bytes from the best source that the facts hold."""
    if facts.model.tensors:
        return of_tensors(facts.model.tensors, shape)
    if facts.model.total_bytes is not None:
        return of_total(facts.model.total_bytes, shape)
    return of_shape(shape)


def fit(facts: CapacityFacts) -> Fit:
    """Return how a config divides the memory of each GPU.

    Raises ValueError for a config.json or a flag that cannot be read, and for fewer GPUs than tp.
    """
    shape = read_shape(facts.model.config)
    serving = read_flags(facts.flags)
    if serving.tp > len(facts.gpus):
        raise ValueError(f"tp-size {serving.tp} needs as many GPUs, the host has {len(facts.gpus)}")
    version = release_numbers(facts.engine_version)
    asked = serving.running
    if serving.algorithm and asked is None:
        serving = serving.model_copy(update={"running": DEFAULT_RUNNING_WITH_DRAFTS})
    gpus = facts.gpus[: serving.tp]
    free = min(
        gpu.memory_free_gib or free_for_engine(gpu.memory_total_mib, serving.tp) for gpu in gpus
    )
    chosen = defaults(shape, serving, min(gpu.memory_total_mib for gpu in gpus))
    weights = weights_of(facts, shape)
    share = max(0.0, weights.loaded / serving.tp - serving.offload_gib * GIB)
    drafts = _draft_bytes(weights, serving) if version >= (0, 5, 23) else 0.0
    reserve = reserve_bytes(free, chosen.memory_fraction)
    rest = free * GIB - share - drafts - reserve
    pools = divide(max(0.0, rest), shape, serving, version)
    cell = kv_bytes(shape, serving)
    tokens = max(0, int(pools.kv // cell)) // serving.page * serving.page
    if serving.tokens is not None:
        tokens = min(tokens, serving.tokens)
    context = serving.context or shape.context
    running, limit = _running(tokens, context, shape, serving, pools, version)
    lines = _lines(weights, share, serving, pools, reserve, tokens, shape)
    fits = rest > 0 and tokens > 0 and running > 0
    short = asked is not None and running < asked and pools.slots > 0
    wanted = _ratio_for(asked or 0, pools, serving, cell, state_bytes(shape, serving.tp), version)
    return Fit(
        fits=fits,
        free_gib=free,
        memory_fraction=chosen.memory_fraction,
        lines=lines,
        kv_tokens=tokens,
        context_asked=context,
        largest_context=min(tokens, shape.context or tokens),
        running_asked=asked,
        running=running if fits else 0,
        running_limit=limit,
        full_contexts=tokens // context if context else 0,
        state_ratio_for_asked=wanted[0] if wanted and short else None,
        kv_tokens_for_asked=wanted[1] if wanted and short else None,
    )


def free_for_engine(memory_total_mib: float, tp: int) -> float:
    """Return the GiB that the engine finds free on an empty GPU, as an estimate."""
    taken = ENGINE_CONTEXT_GIB + (COLLECTIVES_GIB if tp > 1 else 0.0)
    return memory_total_mib / 1024 * 0.9955 - taken


def _draft_bytes(weights: Weights, serving: Serving) -> float:
    return weights.draft / serving.tp if serving.draft_tokens else 0.0


def _running(
    tokens: int,
    context: int,
    shape: Shape,
    serving: Serving,
    pools: Pools,
    version: tuple[int, ...],
) -> tuple[int, str]:
    by_tokens = most_running(tokens, context, serving.running, version)
    limit = "max-running-requests" if serving.running == by_tokens else "KV tokens"
    if shape.linear is None:
        return by_tokens, limit
    each = states_a_request(serving)
    by_states = pools.slots // each
    if by_states < by_tokens:
        return by_states, f"linear-attention states: {pools.slots} slots, {each} a request"
    return by_tokens, limit


def _ratio_for(
    asked: int,
    pools: Pools,
    serving: Serving,
    cell: float,
    one: float,
    version: tuple[int, ...],
) -> tuple[float, int] | None:
    """Return the state ratio that lets `asked` requests run, and the KV tokens left then.

    None where the states would take everything, and for versions that divide otherwise.
    """
    left = pools.states + pools.kv
    need = asked * states_a_request(serving) * one
    if version >= (0, 5, 23) or not 0 < need < left:
        return None
    ratio = need / (left - need)
    return ceil(ratio * 100) / 100, int((left - need) // cell)


def _lines(
    weights: Weights,
    share: float,
    serving: Serving,
    pools: Pools,
    reserve: float,
    tokens: int,
    shape: Shape,
) -> tuple[FitLine, ...]:
    source: Source = "config" if weights.source == "config" else "files"
    lines = [FitLine(what="weights", gib=share / GIB, source=source)]
    if pools.slots:
        what = f"linear-attention states, {pools.slots} slots"
        lines.append(FitLine(what=what, gib=pools.states / GIB, source="rule"))
    if pools.draft_states:
        what = f"states of draft tokens, {serving.draft_tokens} a request"
        lines.append(FitLine(what=what, gib=pools.draft_states / GIB, source="rule"))
    kv = tokens * kv_bytes(shape, serving)
    lines.append(FitLine(what=f"KV cache, {tokens} tokens", gib=kv / GIB, source="rule"))
    lines.append(
        FitLine(what="reserve", gib=reserve / GIB, source="rule", inside="reserve"),
    )
    if serving.draft_tokens and weights.draft:
        peak = (weights.draft + weights.head + weights.embedding) / serving.tp
        lines.append(
            FitLine(
                what="of it: draft model while it loads",
                gib=peak / GIB,
                source=source,
                inside="reserve",
            )
        )
        cache = tokens * kv_bytes(shape, serving) / max(1, shape.full_layers) * shape.draft_layers
        lines.append(
            FitLine(
                what="of it: KV cache of the draft",
                gib=cache / GIB,
                source="rule",
                inside="reserve",
            )
        )
    graphs = 0.5 if serving.tp == 1 else 0.3
    lines.append(
        FitLine(what="of it: decode graphs", gib=graphs, source="estimate", inside="reserve")
    )
    return tuple(lines)
