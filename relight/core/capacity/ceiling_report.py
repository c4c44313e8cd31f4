"""A ceiling in words and tables: bound, share reached, what cannot help, what would."""

from __future__ import annotations

from relight.core.capacity.capacity_facts import CapacityFacts, Observed
from relight.core.capacity.ceiling import (
    LINKS,
    Link,
    Load,
    Machine,
    at_eight_bits,
    bound,
    prefill_chunk,
    round_parts,
)
from relight.core.capacity.fit import weights_of
from relight.core.capacity.levers import NoHelp, Setting, no_help
from relight.core.capacity.link_state import LinkState, judge_link
from relight.core.capacity.model_shape import Shape, read_shape
from relight.core.capacity.model_weights import Weights
from relight.core.capacity.serving_flags import read_flags
from relight.core.model import Frozen

ACCEPTS = (2.7, 3.0, 3.35, 5.0)
COLUMNS = (
    "link (assumed)",
    "all-reduce ms",
    "round ms",
    *(f"tok/s at {accept:g}" for accept in ACCEPTS),
)
EFFICIENCIES = (0.78, 0.92)
LAUNCHES = (1e-3, 5e-3)


class Row(Frozen):
    """One assumed link: all-reduce and round in ms, and tok/s at each accept length."""

    link: str
    all_reduce_ms: float
    round_ms: float
    tok_s: tuple[float, ...]


class StepRow(Frozen):
    """One number of draft steps: ms a round, and the accept length from which it pays."""

    steps: int
    round_ms: float
    break_even: float


class Ceiling(Frozen):
    """Everything that the report says, as numbers; `ceiling_words` makes texts of it."""

    host: str
    bound_ms: float
    target_ms: float
    draft_ms: float
    target_gb: float
    draft_gb: float
    steps: int
    bandwidth_gbs: float
    bandwidth_source: str
    weights_source: str
    rows: tuple[Row, ...]
    eight_bit: Row | None
    eight_bit_bound_ms: float
    links: tuple[LinkState, ...]
    observed: tuple[Observed, ...] = ()
    no_help: tuple[NoHelp, ...] = ()
    caches_ms: float = 0.0
    context: int = 0
    all_reduce_calls: int = 0
    all_reduce_us: float | None = None
    bandwidth_share: float | None = None
    p2p: bool | None = None
    tp: int = 1
    speculates: bool = False
    prefill_tok_s: tuple[tuple[str, float], ...] = ()
    draft_steps: tuple[StepRow, ...] = ()


def ceiling(facts: CapacityFacts) -> Ceiling:
    """Return what a host can decode at most, and what is known of the rest.

    Raises ValueError where the model's shape, a flag or the card's bandwidth is unknown.
    """
    shape = read_shape(facts.model.config)
    serving = read_flags(facts.flags)
    weights = weights_of(facts, shape)
    gbs, source = facts.gpus[0].bandwidth()
    if gbs is None:
        raise ValueError(
            f"the memory bandwidth of {facts.gpus[0].name!r} is unknown: "
            "state bandwidth_gbs, or bus_bits and memory_mhz"
        )
    speed = facts.gpus[0].speed()
    machine = Machine(serving.tp, gbs * 1e9, speed * 1e12 if speed else None)
    if facts.bandwidth_share is not None:
        machine = Machine(
            machine.tp, machine.bandwidth, machine.flops, efficiency=facts.bandwidth_share
        )
    links = LINKS if serving.tp > 1 else (Link("one GPU", 0.0, 1.0),)
    load = Load(steps=serving.draft_steps)
    smaller = at_eight_bits(weights, shape) if shape.weight_bytes > 1 else None
    eight = None
    if smaller is not None:
        light = shape.model_copy(update={"weight_bytes": 1.0})
        link = links[min(1, len(links) - 1)]
        eight = _row(f"{link.name}, 8-bit weights", light, smaller, machine, link, load)
    setting = Setting(shape, facts.flags, facts.gpus[0].capability(), serving.tp)
    middle = links[min(1, len(links) - 1)]
    return Ceiling(
        host=facts.host,
        bound_ms=1000 * bound(weights, machine, serving.draft_steps),
        target_ms=1000 * bound(weights, machine, 0),
        draft_ms=1000 * (weights.draft + weights.head) / machine.tp / machine.bandwidth,
        target_gb=weights.read / machine.tp / 1e9,
        draft_gb=(weights.draft + weights.head) / machine.tp / 1e9,
        steps=serving.draft_steps,
        bandwidth_gbs=gbs,
        bandwidth_source=source,
        weights_source=weights.source,
        rows=tuple(_row(link.name, shape, weights, machine, link, load) for link in links),
        eight_bit=eight,
        eight_bit_bound_ms=1000 * bound(smaller or weights, machine, serving.draft_steps),
        links=tuple(
            judge_link(
                [sample for sample in facts.link.samples if sample.gpu == index],
                gpu.link_gen_possible,
            )
            for index, gpu in enumerate(facts.gpus[: serving.tp])
        ),
        observed=facts.observed,
        no_help=no_help(setting),
        caches_ms=1000 * round_parts(shape, weights, machine, None, load).caches,
        context=load.context,
        all_reduce_calls=2 * shape.layers + 2 * serving.draft_steps,
        all_reduce_us=facts.link.all_reduce_us,
        bandwidth_share=facts.bandwidth_share,
        p2p=facts.link.p2p,
        tp=serving.tp,
        speculates=bool(serving.algorithm),
        prefill_tok_s=tuple(
            (link.name, chunk.speed(4096))
            for link in links
            if machine.tp > 1 and (chunk := prefill_chunk(shape, weights, machine, link))
        ),
        draft_steps=_draft_steps(shape, weights, machine, middle),
    )


def _draft_steps(
    shape: Shape, weights: Weights, machine: Machine, link: Link
) -> tuple[StepRow, ...]:
    """Return rounds for 1 to 7 draft steps; nothing for a model without draft layers."""
    if not weights.draft:
        return ()
    plain = round_parts(shape, weights, machine, link, Load()).total
    totals = {
        steps: round_parts(shape, weights, machine, link, Load(steps=steps)).total
        for steps in (1, 2, 3, 5, 7)
    }
    return tuple(
        StepRow(steps=steps, round_ms=1000 * total, break_even=total / plain)
        for steps, total in totals.items()
    )


def rows(known: Ceiling) -> tuple[tuple[str, ...], ...]:
    """Return the table of assumed links under `COLUMNS`, 8-bit weights last."""
    listed = known.rows + ((known.eight_bit,) if known.eight_bit else ())
    return tuple(
        (
            row.link,
            f"{row.all_reduce_ms:.1f}",
            f"{row.round_ms:.1f}",
            *(f"{speed:.0f}" for speed in row.tok_s),
        )
        for row in listed
    )


def _row(
    name: str, shape: Shape, weights: Weights, machine: Machine, link: Link, load: Load
) -> Row:
    parts = round_parts(shape, weights, machine, link, load)
    return Row(
        link=name,
        all_reduce_ms=1000 * parts.all_reduce,
        round_ms=1000 * parts.total,
        tok_s=tuple(accept / parts.total for accept in ACCEPTS),
    )
