"""Quantiles of Student's t, exact for whole degrees of freedom; no numeric library needed."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL_FROM = 2000
"""From here on t and the normal distribution agree to four digits."""


def two_sided(df: int, confidence: float = 0.95) -> float:
    """Return the half width, in standard errors, of a two-sided interval.

    Raises ValueError for fewer than one degree of freedom or a confidence outside 0 to 1.
    """
    if df < 1:
        raise ValueError(f"{df} degrees of freedom are none")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    return _quantile(df, confidence)


@lru_cache(maxsize=256)
def _quantile(df: int, confidence: float) -> float:
    if df >= _NORMAL_FROM:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = 0.0, 1.0
    while within(high, df) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if within(middle, df) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def within(t: float, df: int) -> float:
    """Return the probability that |T| stays below `t` (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(df))
    square = math.cos(angle) ** 2
    if df % 2 == 0:
        term = total = 1.0
        for k in range(1, df // 2):
            term *= square * (2 * k - 1) / (2 * k)
            total += term
        return math.sin(angle) * total
    total = 0.0
    term = math.cos(angle)
    for k in range(1, (df - 1) // 2 + 1):
        total += term
        term *= square * (2 * k) / (2 * k + 1)
    return 2 / math.pi * (angle + math.sin(angle) * total)
