"""What an engine's own decode lines say of a run: accept length, step time, foreign requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median

from relight.core.startup import Batch

_KEYS = {
    "running": ("runningreq", "runningreqs", "numrunningreqs"),
    "accept": ("acceptlen", "acceptlength", "specacceptlength"),
    "throughput": ("genthroughputtokens", "genthroughputtokenspersecond", "genthroughput"),
    "cached": ("cachedtoken", "cachedtokens"),
}


@dataclass(frozen=True)
class DecodeLines:
    """Figures of one run's log lines; None where no line says.

    `accept_len` and `step_ms` are of lines with exactly our number of running requests, the first
    of them left out: SGLang divides by the time since the line before, idle time included.
    """

    accept_len: float | None = None
    step_ms: float | None = None
    running: int | None = None
    cached_tokens: int | None = None


def figure(values: Mapping[str, str | int | float | bool], what: str) -> float | None:
    """Return one figure of a batch line whatever the version calls it; None when it is not there.

    `what` is one of running, accept, throughput, cached. Names are compared by their letters
    alone: `#running-req`, `running_req` and `running-req` are one.
    """
    letters = {re.sub(r"[^a-z]", "", key.lower()): value for key, value in values.items()}
    for key in _KEYS[what]:
        value = letters.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value)
    return None


def summarize(batches: Iterable[Batch], concurrency: int) -> DecodeLines:
    """Return what the lines of one run say, for a run that kept `concurrency` requests going."""
    accepts: list[float] = []
    steps: list[float] = []
    most: int | None = None
    cached: int | None = None
    for batch in batches:
        running = figure(batch.values, "running")
        if batch.phase == "prefill":
            hit = figure(batch.values, "cached")
            if hit is not None:
                cached = (cached or 0) + int(hit)
            continue
        if running is None:
            continue
        most = max(most or 0, int(running))
        if int(running) != concurrency:
            continue
        accept = figure(batch.values, "accept")
        speed = figure(batch.values, "throughput")
        if accept:
            accepts.append(accept)
        if speed:
            steps.append(1000 * running * (accept or 1.0) / speed)
    usable = steps[1:]
    return DecodeLines(
        accept_len=fmean(accepts) if accepts else None,
        step_ms=median(usable) if usable else None,
        running=most,
        cached_tokens=cached,
    )


def others(running: int | None, ours: int, *around: int | None) -> int | None:
    """Return the most foreign requests that ran beside ours; None when nothing says.

    `running` is the most that a log line of the run showed, `around` the server's own counts
    while none of ours ran.
    """
    seen = [count for count in around if count is not None]
    if running is not None:
        seen.append(max(0, running - ours))
    return max(seen) if seen else None
