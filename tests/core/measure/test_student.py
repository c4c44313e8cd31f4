"""Quantiles of Student's t, against printed tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure.student import two_sided, within

TABLE = [
    (1, 0.95, 12.7062),
    (2, 0.95, 4.3027),
    (3, 0.95, 3.1824),
    (4, 0.95, 2.7764),
    (7, 0.95, 2.3646),
    (10, 0.99, 3.1693),
    (30, 0.95, 2.0423),
    (120, 0.95, 1.9799),
    (100_000, 0.95, 1.9600),
]


@pytest.mark.parametrize(("df", "confidence", "expected"), TABLE)
def test_a_quantile_equals_the_printed_table(df: int, confidence: float, expected: float) -> None:
    """Every quantile agrees with the tables of the t distribution to four digits."""
    assert two_sided(df, confidence) == pytest.approx(expected, abs=1e-4)


@given(st.integers(1, 300), st.floats(0.5, 0.999))
def test_a_quantile_holds_its_own_probability(df: int, confidence: float) -> None:
    """The probability inside a quantile is the confidence that was asked for."""
    assert within(two_sided(df, confidence), df) == pytest.approx(confidence, abs=1e-9)


@pytest.mark.parametrize(("df", "confidence"), [(0, 0.95), (3, 0.0), (3, 1.0)])
def test_nonsense_is_refused(df: int, confidence: float) -> None:
    """No degrees of freedom, or a confidence outside 0 to 1, is a ValueError."""
    with pytest.raises(ValueError, match=r"degrees of freedom|confidence"):
        two_sided(df, confidence)
