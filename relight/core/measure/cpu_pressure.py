"""Who waits for a CPU: the kernel's pressure figures, and how far they blur a comparison."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import log

MOST = 0.95


@dataclass(frozen=True)
class Pressure:
    """Seconds since the host's boot, and seconds of them in which some task waited for a CPU."""

    uptime: float
    waited: float


def read_pressure(text: str) -> Pressure | None:
    """Return the figures of /proc/uptime and /proc/pressure/cpu, one after the other.

    None where the kernel keeps none (before 4.20, or switched off).
    """
    uptime = re.match(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s", text)
    waited = re.search(r"^some .*\btotal=(\d{1,18})\s*$", text, re.MULTILINE)
    if uptime is None or waited is None:
        return None
    return Pressure(float(uptime.group(1)), int(waited.group(1)) / 1e6)


def between(before: Pressure | None, after: Pressure | None) -> float | None:
    """Return the share of the time between two readings in which some task waited, 0 to 1."""
    if before is None or after is None or after.uptime <= before.uptime:
        return None
    share = (after.waited - before.waited) / (after.uptime - before.uptime)
    return min(1.0, max(0.0, share))


def blur(one: float | None, two: float | None) -> float:
    """Return how far, on the log scale, different pressure may have moved one run against another.

    A task that waits a share p of the time is slower by a factor of 1 - p at most; equal
    pressure, also the engine's own, cancels. Unknown pressure blurs nothing.
    """
    if one is None or two is None:
        return 0.0
    return abs(log(1 - min(one, MOST)) - log(1 - min(two, MOST)))
