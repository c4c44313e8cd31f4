"""What stored benchmarks tell a ceiling: rounds that were reached, and links under that load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relight.core.capacity.capacity_facts import CapacityFacts, LinkSample, Observed
from relight.core.measure.measurement import GpuLoad, Measurement
from relight.core.measure.metrics import summarize

_BUSY = 100.0
"""A load keeps figures of busy samples only; how busy each was is not kept."""


def with_runs(
    facts: CapacityFacts, runs: Sequence[Measurement], bound: Sequence[int] = ()
) -> CapacityFacts:
    """Return the facts with what a release's own runs measured; `bound` are its GPUs' numbers."""
    if not runs:
        return facts
    link = facts.link.model_copy(update={"samples": tuple(_samples(runs, bound))})
    return facts.model_copy(update={"observed": tuple(_rounds(runs)), "link": link})


def _rounds(runs: Sequence[Measurement]) -> Iterator[Observed]:
    for run in runs:
        figures = summarize(run)
        if figures.tok_s:
            each = figures.tokens_per_step or figures.accept_len or 1.0
            yield Observed(tok_s=figures.tok_s, accept_len=max(1.0, each))


def _samples(runs: Sequence[Measurement], bound: Sequence[int]) -> Iterator[LinkSample]:
    for run in runs:
        for load in run.gpus:
            if not bound or load.index in bound:
                yield from _of(load, bound.index(load.index) if bound else load.index)


def _of(load: GpuLoad, position: int) -> Iterator[LinkSample]:
    if load.link_gen is None or load.link_share is None:
        return
    at_best = round(load.busy * load.link_share)
    width = load.link_width or 16
    for number in range(load.busy):
        # Of a slower sample only that it was slower is kept.
        gen = load.link_gen if number < at_best else max(1, load.link_gen - 1)
        yield LinkSample(gpu=position, gen=gen, width=width, utilization=_BUSY)
