"""Who waits for a CPU: the server's threads, the host as a whole; how far it blurs a comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    waited = re.search(r"^some .*\btotal=(\d{1,18})\s*$", text, re.MULTILINE)
    if waited is None or not uptime(text):
        return None
    return Pressure(uptime(text), int(waited.group(1)) / 1e6)


def uptime(text: str) -> float:
    """Return the seconds since the boot, which a text begins with; 0 where it does not."""
    found = re.match(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s", text)
    return float(found.group(1)) if found else 0.0


def between(before: Pressure | None, after: Pressure | None) -> float | None:
    """Return the share of the time between two readings in which some task waited, 0 to 1."""
    if before is None or after is None or after.uptime <= before.uptime:
        return None
    share = (after.waited - before.waited) / (after.uptime - before.uptime)
    return min(1.0, max(0.0, share))


def read_waits(text: str) -> dict[str, float]:
    """Return the seconds that each thread has waited for a CPU so far, by `pid/tid`.

    Lines are `wait PID/TID RAN WAITED`, in ns, as /proc/PID/task/TID/schedstat holds them.
    """
    lines = re.findall(r"^wait (\d{1,10}/\d{1,10}) \d{1,20} (\d{1,20})$", text, re.MULTILINE)
    return {name: int(waited) / 1e9 for name, waited in lines}


def longest_wait(
    before: Mapping[str, float], after: Mapping[str, float], seconds: float
) -> float | None:
    """Return the share of the time that the thread which waited longest did wait, 0 to 1.

    None where no thread could be seen both times. A round goes at the pace of the thread that
    computes it; one that sleeps until it is asked waits for no CPU.
    """
    waited = [after[name] - before[name] for name in before if name in after]
    return min(1.0, max(0.0, *waited) / seconds) if waited and seconds > 0 else None


def blur(one: float | None, two: float | None) -> float:
    """Return how far, on the log scale, different pressure may have moved one run against another.

    A task that waits a share p of the time is slower by a factor of 1 - p at most; equal
    pressure, also the engine's own, cancels. Unknown pressure blurs nothing.
    """
    if one is None or two is None:
        return 0.0
    return abs(log(1 - min(one, MOST)) - log(1 - min(two, MOST)))
