"""The most that a host can decode: bytes a round, bandwidth, link; a model with every part named.

One round of decode is one forward pass of the target and, with chain speculation, `k` passes of the
draft (k - 1 decode passes and one extend pass; SGLang `eagle_worker_v2.py`):

    round = weights + KV and states + draft + all-reduce + launch
    tok/s = batch x tokens a round / round

Each draft pass reads the draft layer and the whole lm_head again. Two all-reduces a layer carry
activations (batch x tokens x hidden x 2 bytes), never weights.
"""

from __future__ import annotations

from dataclasses import dataclass

from relight.core.capacity.model_shape import Shape
from relight.core.capacity.model_weights import Weights
from relight.core.model import Frozen

EFFICIENCY = 0.87
"""Assumed share of the memory bandwidth that weight reads reach; 0.78 to 0.92 was seen."""
LAUNCH_S = 2.5e-3
"""Assumed seconds a round for launches, sampling and scheduling with CUDA graphs; 1 to 5 ms."""
FLOP_EFFICIENCY = 0.6
ACTIVATION_BYTES = 2


@dataclass(frozen=True)
class Link:
    """How GPUs reach each other: seconds of one small all-reduce, bytes/s one way in practice."""

    name: str
    latency: float
    speed: float


LINKS: tuple[Link, ...] = (
    Link("NVLink bridge", 6e-6, 50e9),
    Link("PCIe Gen4 x16, P2P", 10e-6, 25e9),
    Link("PCIe Gen4 x16, no P2P", 30e-6, 12e9),
    Link("PCIe Gen1 x16, P2P", 16e-6, 3.2e9),
    Link("PCIe Gen1 x16, no P2P", 45e-6, 1.6e9),
)
"""Assumed links, from public measurements; which of them a host has must be measured."""


@dataclass(frozen=True)
class Machine:
    """The GPUs of one server: how many, bytes/s of memory, FLOP/s, and what of it is reached."""

    tp: int
    bandwidth: float
    flops: float | None
    efficiency: float = EFFICIENCY
    launch: float = LAUNCH_S


class Parts(Frozen):
    """Seconds of one round, by what they are spent on."""

    weights: float
    caches: float
    draft: float
    all_reduce: float
    launch: float

    @property
    def total(self) -> float:
        """Return the whole round."""
        return self.weights + self.caches + self.draft + self.all_reduce + self.launch


@dataclass(frozen=True)
class Load:
    """What is decoded: requests at once, tokens of context each, draft steps (0: none)."""

    batch: int = 1
    context: int = 1000
    steps: int = 0


def bound(weights: Weights, machine: Machine, steps: int) -> float:
    """Return seconds a round at the full memory bandwidth, with free communication."""
    draft = (weights.draft + weights.head) * steps
    return (weights.read + draft) / machine.tp / machine.bandwidth


def round_parts(
    shape: Shape, weights: Weights, machine: Machine, link: Link | None, load: Load
) -> Parts:
    """Return the modelled parts of one round; without a link (one GPU) all-reduces cost nothing.

    Dense models: with experts, weight reads grow with the batch until all experts are touched.
    """
    tokens = load.steps + 1
    reach = machine.bandwidth * machine.efficiency
    read = weights.read / machine.tp / reach
    if machine.flops:
        parameters = weights.read / shape.weight_bytes
        compute = 2 * parameters * load.batch * tokens
        read = max(read, compute / machine.tp / (machine.flops * FLOP_EFFICIENCY))
    caches = load.batch * (load.context * _cache_bytes(shape) + (1 + tokens) * _states(shape))
    draft = load.steps * (weights.draft + weights.head) / machine.tp / reach
    return Parts(
        weights=read,
        caches=caches / machine.tp / reach,
        draft=draft,
        all_reduce=all_reduce(shape, link, load) if link and machine.tp > 1 else 0.0,
        launch=machine.launch,
    )


def all_reduce(shape: Shape, link: Link, load: Load) -> float:
    """Return seconds a round for all-reduces between two GPUs."""
    message = load.batch * shape.hidden * ACTIVATION_BYTES
    target = 2 * shape.layers * (link.latency + message * (load.steps + 1) / link.speed)
    draft = load.steps * 2 * (link.latency + message / link.speed)
    return target + draft


class Prefill(Frozen):
    """Seconds of one prefill chunk: compute, and all-reduce of its activations."""

    compute: float
    all_reduce: float

    def speed(self, chunk: int) -> float:
        """Return tokens a second."""
        return chunk / (self.compute + self.all_reduce)


def prefill_chunk(
    shape: Shape, weights: Weights, machine: Machine, link: Link, chunk: int = 4096
) -> Prefill | None:
    """Return the modelled prefill of one chunk; None where the card's speed is unknown."""
    if not machine.flops:
        return None
    parameters = weights.active_layers / shape.weight_bytes
    compute = 2 * parameters * chunk / machine.tp / (machine.flops * FLOP_EFFICIENCY)
    ring = 2 * (machine.tp - 1) / machine.tp
    message = chunk * shape.hidden * ACTIVATION_BYTES * ring
    return Prefill(
        compute=compute, all_reduce=2 * shape.layers * (link.latency + message / link.speed)
    )


def tokens_with(acceptance: float, steps: int) -> float:
    """Return tokens a round when each draft position is accepted with the same probability."""
    if acceptance >= 1:
        return float(steps + 1)
    return float((1 - acceptance ** (steps + 1)) / (1 - acceptance))


def at_eight_bits(weights: Weights, shape: Shape) -> Weights:
    """Return the same model with 8-bit layers; lm_head, embedding and draft stay as they are."""
    factor = 1.0 / shape.weight_bytes
    return weights.model_copy(
        update={
            "layers": weights.layers * factor,
            "active_layers": weights.active_layers * factor,
        }
    )


def _cache_bytes(shape: Shape) -> float:
    if shape.latent:
        return (shape.latent.kv_rank + shape.latent.rope_dim) * shape.full_layers * 2.0
    return shape.full_layers * 2 * shape.kv_heads * shape.head_dim * 2.0


def _states(shape: Shape) -> float:
    linear = shape.linear
    if linear is None:
        return 0.0
    one = linear.value_heads * linear.value_dim * linear.key_dim * linear.state_bytes
    return linear.layers * one
