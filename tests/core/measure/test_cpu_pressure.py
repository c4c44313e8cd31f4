"""Pressure on the CPUs: read, between two moments, and how far it blurs."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure.cpu_pressure import (
    Pressure,
    between,
    blur,
    longest_wait,
    read_pressure,
    read_waits,
    uptime,
)

TEXT = """1000.50 1900.10
some avg10=12.00 avg60=8.11 avg300=4.02 total=250000000
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
"""


def test_the_kernel_s_figures_are_read() -> None:
    """Uptime in seconds, waiting in microseconds; without the file it is unknown."""
    assert read_pressure(TEXT) == Pressure(1000.50, 250.0)
    assert read_pressure("1000.50 1900.10\n") is None


def test_the_share_between_two_moments() -> None:
    """5 s of waiting within 20 s are a quarter; without time between them it is unknown."""
    before, after = Pressure(100.0, 10.0), Pressure(120.0, 15.0)
    assert between(before, after) == pytest.approx(0.25)
    assert between(before, before) is None
    assert between(None, after) is None


def test_equal_pressure_blurs_nothing() -> None:
    """The engine's own pressure is in both runs and cancels; unknown pressure is no blur."""
    assert blur(0.4, 0.4) == 0.0
    assert blur(None, 0.4) == 0.0
    assert blur(0.5, 0.0) == pytest.approx(log(2))


@given(st.floats(0, 1), st.floats(0, 1))
def test_blur_is_even_and_finite(one: float, two: float) -> None:
    """Which run was crowded does not matter, and no pressure makes it endless."""
    assert blur(one, two) == blur(two, one)
    assert 0 <= blur(one, two) <= log(20) + 1e-9


@given(st.text())
def test_anything_is_survived(text: str) -> None:
    """Whatever the host prints, reading gives figures or none."""
    read_pressure(text)
    read_pressure(TEXT + text)
    read_waits(TEXT + text)
    assert uptime(text) >= 0


def test_the_wait_of_each_thread_is_read() -> None:
    """`wait PID/TID RAN WAITED` in ns, behind the kernel's figures; other lines are not."""
    lines = "wait 7/7 12000000000 3000000000\nwait 7/9 0 500000000\nwait x/9 0 1\nwait 7/9 1\n"
    assert read_waits(TEXT + lines) == {"7/7": 3.0, "7/9": 0.5}
    assert uptime(TEXT + lines) == 1000.5


def test_the_thread_that_waited_longest_counts() -> None:
    """Of threads seen twice; a thread that began or ended in between says nothing."""
    before, after = {"1/1": 2.0, "1/2": 0.0, "1/3": 9.0}, {"1/1": 3.0, "1/2": 0.5, "1/4": 30.0}
    assert longest_wait(before, after, 10.0) == pytest.approx(0.1)
    assert longest_wait(before, {}, 10.0) is None
    assert longest_wait(before, after, 0.0) is None
    assert longest_wait({"1/1": 0.0}, {"1/1": 99.0}, 10.0) == 1.0
