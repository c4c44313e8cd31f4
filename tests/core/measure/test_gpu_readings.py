"""Readings of nvidia-smi, in the form of a recorded H200."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure.gpu_readings import parse

IDLE = "0, NVIDIA H200, 0, 345, 3201, 1, 5, 16, 16, 34, 0x0000000000000001"
BUSY = "0, NVIDIA H200, 100, 1980, 3201, 5, 5, 16, 16, 42, 0x0000000000000000"
HOT = "1, NVIDIA H200, 97, 1200, 3201, 4, 5, 8, 16, 91, 0x0000000000000044"


def test_only_busy_readings_tell_the_link_and_the_clocks() -> None:
    """Idle Gen1 and 345 MHz say nothing about a run."""
    (found,) = parse(f"{IDLE}\n{BUSY}\n{BUSY}\n{IDLE}")
    assert (found.samples, found.busy) == (4, 2)
    assert found.link_gen == 5
    assert found.link_share == 1.0
    assert found.sm_mhz == 1980
    assert found.throttled == ()
    assert (found.temperature_start, found.temperature_end) == (34, 34)


def test_reasons_and_narrow_links_are_told_for_each_gpu() -> None:
    """Bits of the driver become names; GPUs stay apart."""
    first, second = parse(f"{BUSY}\n{HOT}\n")
    assert first.link_width == 16
    assert second.link_width == 8
    assert second.throttled == ("hw_thermal_slowdown", "sw_power_cap")


def test_an_idle_gpu_has_no_figures_under_load() -> None:
    """Without busy readings everything under load is unknown, not zero."""
    (found,) = parse(IDLE)
    assert found.link_gen is None
    assert found.sm_mhz is None


@given(st.text())
def test_anything_is_survived(text: str) -> None:
    """Whatever the host prints, parsing gives GPUs or none."""
    parse(text)
    parse(BUSY.replace("NVIDIA H200", text))


def test_missing_values_are_unknown() -> None:
    """[N/A] in a cell is an unknown figure of a known GPU."""
    (found,) = parse(BUSY.replace("1980", "[N/A]").replace(" 5, 5,", " [N/A], [N/A],"))
    assert found.sm_mhz is None
    assert found.link_possible is None
