"""Durations as people write them: seconds as a number, or `90s`, `10m`, `1h30m`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d)\s*)+")


def seconds(value: object) -> float:
    """Return a duration in seconds.

    Raises ValueError for anything but a non-negative number or a text such as `1h30m`.
    """
    if isinstance(value, bool):
        raise ValueError(_wrong(value))
    if isinstance(value, int | float):
        if not 0 <= value < float("inf"):
            raise ValueError(_wrong(value))
        return float(value)
    text = str(value).strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return float(text)
    if not _WHOLE.fullmatch(text):
        raise ValueError(_wrong(value))
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def spell(duration: float) -> str:
    """Return a duration for a person: `0.8s`, `14s`, `2m05s`, `1h03m`."""
    if duration < 10:
        return f"{duration:.1f}s"
    whole = round(duration)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def _wrong(value: object) -> str:
    return f"{value!r} is not a duration: write seconds, or a text such as 90s, 10m, 1h30m"


Seconds = Annotated[float, BeforeValidator(seconds)]
"""A field that takes any spelling of a duration and holds seconds."""
