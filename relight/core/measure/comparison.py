"""One metric of two runs, paired by prompt: the change, its interval, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import exp, log
from statistics import fmean, stdev

from relight.core.measure.measurement import Measurement
from relight.core.measure.metrics import Metric
from relight.core.measure.noise import Noise, half_width
from relight.core.model import Frozen

MARGIN = 0.02
"""A change below this is not one, however sure it is."""
FEWEST_PAIRS = 3


class Answer(StrEnum):
    """What a benchmark came to."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not-comparable"
    FAILED = "failed"


class Comparison(Frozen):
    """One metric against the known-good's: geometric means, and the change with its interval.

    `change`, `low` and `high` are shares (0.05 is 5 %), signed so that more is better. `decides`
    says whether the verdict rests on this metric.
    """

    metric: str
    label: str
    unit: str
    known_good: float
    candidate: float
    change: float
    low: float
    high: float
    pairs: int
    answer: Answer
    decides: bool = False


def compare(
    metric: Metric,
    candidate: Measurement,
    known_good: Sequence[Measurement],
    noise: Noise,
    *,
    decides: bool,
    bias: float = 0.0,
) -> Comparison | None:
    """Return one metric's comparison, paired by prompt; None with fewer than three pairs.

    `bias` is what may have moved one run as a whole, on the log scale: it is added to the interval.
    """
    now = _by_prompt([candidate], metric)
    then = _by_prompt(known_good, metric)
    shared = sorted(set(now) & set(then))
    if len(shared) < FEWEST_PAIRS:
        return None
    sign = 1.0 if metric.more_is_better else -1.0
    ratios = [sign * (now[key] - then[key]) for key in shared]
    mean = fmean(ratios)
    width = bias + half_width(stdev(ratios), len(ratios), noise, len(known_good))
    return Comparison(
        metric=metric.name,
        label=metric.label,
        unit=metric.unit,
        known_good=exp(fmean(then[key] for key in shared)),
        candidate=exp(fmean(now[key] for key in shared)),
        change=exp(mean) - 1,
        low=exp(mean - width) - 1,
        high=exp(mean + width) - 1,
        pairs=len(shared),
        answer=classify(mean, width),
        decides=decides,
    )


def classify(mean: float, width: float) -> Answer:
    """Return what a mean log ratio and the half width of its interval say; more is better."""
    if mean - width > 0 and mean >= MARGIN:
        return Answer.BETTER
    if mean + width < 0 and mean <= -MARGIN:
        return Answer.WORSE
    if abs(mean) + width < 3 * MARGIN:
        return Answer.SAME
    return Answer.INCONCLUSIVE


def _by_prompt(runs: Sequence[Measurement], metric: Metric) -> dict[tuple[str, int, int], float]:
    found: dict[tuple[str, int, int], list[float]] = {}
    for run in runs:
        for one in run.samples:
            value = metric.of(one)
            if value is not None:
                found.setdefault((one.prompt, one.concurrency, one.repeat), []).append(log(value))
    return {key: fmean(values) for key, values in found.items() if len(values) == len(runs)}
