"""What a PCIe link really runs at: judged from busy samples only, else unknown."""

from __future__ import annotations

from collections.abc import Sequence

from relight.core.capacity.capacity_facts import LinkSample
from relight.core.model import Frozen

BUSY = 50.0
FEWEST = 10
SHARE = 0.9


class LinkState(Frozen):
    """The verdict on one GPU's link: `degraded`, `full` or `unknown`, and what it rests on."""

    state: str
    sentence: str
    gen: int | None = None
    busy: int = 0


def judge_link(samples: Sequence[LinkSample], possible: int | None) -> LinkState:
    """Return how a link runs under load.

    An idle GPU drops its link to Gen1 to save power and raises it under load, so idle readings
    prove nothing. Degraded needs ten busy samples, and nine in ten of them below what is possible.
    """
    busy = [sample for sample in samples if sample.utilization >= BUSY]
    if len(busy) < FEWEST:
        idle = len(samples) - len(busy)
        seen = f"{len(busy)} of {FEWEST} busy samples" + (f", {idle} idle" if idle else "")
        return LinkState(
            state="unknown",
            sentence=f"link speed under load unknown: {seen}; an idle link says nothing",
            busy=len(busy),
        )
    best = max(sample.gen for sample in busy)
    width = max(sample.width for sample in busy)
    if possible is None:
        return LinkState(
            state="unknown",
            sentence=f"link at Gen{best} x{width} under load; what is possible was not stated",
            gen=best,
            busy=len(busy),
        )
    below = sum(sample.gen < possible for sample in busy) / len(busy)
    if below >= SHARE:
        return LinkState(
            state="degraded",
            sentence=(
                f"link below its possible Gen{possible} in {below:.0%} of {len(busy)} busy "
                f"samples (Gen{best} x{width} at best)"
            ),
            gen=best,
            busy=len(busy),
        )
    return LinkState(
        state="full",
        sentence=f"link reaches Gen{best} x{width} under load ({len(busy)} busy samples)",
        gen=best,
        busy=len(busy),
    )
