"""How much two starts of one config differ on one host: below that nothing is a finding."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean

from relight.core.measure.student import two_sided
from relight.core.model import Frozen

PRIOR_SIGMA = 0.01
"""Assumed restart noise, as a share, while a host has not shown its own."""
PRIOR_WEIGHT = 4
"""How many restarts that assumption counts as."""


class Noise(Frozen):
    """Restart-to-restart noise on the log scale (0.01 is about 1 %) and what it rests on.

    `restarts` counts differences that were seen; with 0 of them the figure is an assumption.
    `df` are its degrees of freedom.
    """

    sigma: float = PRIOR_SIGMA
    df: int = PRIOR_WEIGHT
    restarts: int = 0
    drift: float = 0.0


def restart_noise(groups: Sequence[Sequence[float]], drift: float = 0.0) -> Noise:
    """Return the noise that runs of equal configs show, each group being one config's run means.

    Values are logs. What was seen is pooled over groups and weighed against an assumption of 1 %
    that counts as four restarts. A run that drifted more than that within itself (`drift`, log
    scale) proves that the host is at least as unsteady.
    """
    squares = 0.0
    seen = 0
    for group in groups:
        if len(group) < 2:
            continue
        middle = fmean(group)
        squares += sum((value - middle) ** 2 for value in group)
        seen += len(group) - 1
    df = PRIOR_WEIGHT + seen
    sigma = sqrt((PRIOR_WEIGHT * PRIOR_SIGMA**2 + squares) / df)
    return Noise(sigma=max(sigma, drift), df=df, restarts=seen, drift=drift)


def half_width(spread: float, pairs: int, noise: Noise, runs: int) -> float:
    """Return the half width of the 95 % interval of a mean log ratio.

    `spread` is the standard deviation of the pairs' log ratios, `pairs` their number (2 or more),
    `runs` how many runs of the known-good were averaged. The candidate is one restart, however
    many requests it answered: its restart noise is never divided by their number.
    """
    inside = two_sided(pairs - 1) * spread / sqrt(pairs)
    between = two_sided(noise.df) * noise.sigma * sqrt(1 + 1 / runs)
    return sqrt(inside**2 + between**2)
