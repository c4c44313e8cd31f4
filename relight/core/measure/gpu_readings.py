"""nvidia-smi's readings during a run, as lines of numbers, and what they come to for each GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from relight.core.capacity.link_state import BUSY
from relight.core.measure.chat_stream import printable
from relight.core.measure.measurement import GpuLoad

_COMMON = (
    "index,name,utilization.gpu,clocks.sm,clocks.mem,pcie.link.gen.current,pcie.link.gen.max,"
    "pcie.link.width.current,pcie.link.width.max,temperature.gpu"
)
FIELDS = f"{_COMMON},clocks_event_reasons.active"
OLDER_FIELDS = f"{_COMMON},clocks_throttle_reasons.active"
"""The name before driver 535; one unknown field makes nvidia-smi refuse the whole query."""
REASONS = {
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
}


@dataclass(frozen=True)
class _Reading:
    index: int
    name: str
    busy: float
    sm: float | None
    memory: float | None
    gen: int | None
    gen_possible: int | None
    width: int | None
    width_possible: int | None
    temperature: float | None
    reasons: int


def parse(text: str) -> tuple[GpuLoad, ...]:
    """Return each GPU's state under load from lines of `FIELDS`; unreadable lines are left out."""
    by_index: dict[int, list[_Reading]] = {}
    for line in text.splitlines():
        reading = _reading(line)
        if reading is not None:
            by_index.setdefault(reading.index, []).append(reading)
    return tuple(_load(by_index[index]) for index in sorted(by_index))


def _reading(line: str) -> _Reading | None:
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != len(FIELDS.split(",")):
        return None
    index, busy = _number(cells[0]), _number(cells[2])
    if index is None or busy is None:
        return None
    try:
        reasons = int(cells[10], 16)
    except ValueError:
        reasons = 0
    gen, gen_possible, width, width_possible = (_whole(cell) for cell in cells[5:9])
    return _Reading(
        index=int(index),
        name=printable(cells[1], 80),
        busy=busy,
        sm=_number(cells[3]),
        memory=_number(cells[4]),
        gen=gen,
        gen_possible=gen_possible,
        width=width,
        width_possible=width_possible,
        temperature=_number(cells[9]),
        reasons=reasons,
    )


def _load(readings: Sequence[_Reading]) -> GpuLoad:
    busy = [one for one in readings if one.busy >= BUSY]
    gens = [one.gen for one in busy if one.gen is not None]
    best = max(gens, default=None)
    reasons = {name for one in busy for bit, name in REASONS.items() if one.reasons & bit}
    first, last = readings[0], readings[-1]
    return GpuLoad(
        index=first.index,
        name=first.name,
        samples=len(readings),
        busy=len(busy),
        sm_mhz=_middle([one.sm for one in busy]),
        memory_mhz=_middle([one.memory for one in busy]),
        link_gen=best,
        link_share=gens.count(best) / len(gens) if best is not None else None,
        link_possible=first.gen_possible,
        link_width=max((one.width for one in busy if one.width is not None), default=None),
        link_width_possible=first.width_possible,
        throttled=tuple(sorted(reasons)),
        temperature_start=first.temperature,
        temperature_end=last.temperature,
    )


def _middle(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return median(found) if found else None


def _number(cell: str) -> float | None:
    digits = cell.replace(".", "", 1)
    return float(cell) if digits.isascii() and digits.isdigit() and len(cell) < 16 else None


def _whole(cell: str) -> int | None:
    value = _number(cell)
    return int(value) if value is not None else None
