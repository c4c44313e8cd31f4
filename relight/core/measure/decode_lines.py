"""What an engine's own decode lines say of a run: accept length, step time, foreign requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from relight.core.measure.bench_call import WARM_UPS
from relight.core.measure.measurement import Sample
from relight.core.startup import Batch


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
    lines: int = 0
    without_graphs: int = 0


def figure(batch: Batch, name: str) -> float | None:
    """Return one number of a line; None when the line has none under that name."""
    value = batch.values.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


def contents(batches: Iterable[Batch]) -> tuple[Batch, ...]:
    """Return batches without their line numbers, which depend on where a log was cut."""
    return tuple(batch.model_copy(update={"line": 0}) for batch in batches)


def summarize(batches: Iterable[Batch], concurrency: int) -> DecodeLines:
    """Return what the lines of one run say, for a run that kept `concurrency` requests going."""
    accepts: list[float] = []
    steps: list[float] = []
    most: int | None = None
    cached: int | None = None
    lines = without_graphs = 0
    for batch in batches:
        running = figure(batch, "running_req")
        if batch.phase == "prefill":
            hit = figure(batch, "cached_token")
            if hit is not None:
                cached = (cached or 0) + int(hit)
            continue
        lines += 1
        without_graphs += batch.values.get("cuda_graph") is False
        if running is None:
            continue
        most = max(most or 0, int(running))
        if int(running) != concurrency:
            continue
        accept = figure(batch, "accept_len")
        speed = figure(batch, "gen_throughput")
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
        lines=lines,
        without_graphs=without_graphs,
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


def beyond_warm_up(cached: int | None, samples: Sequence[Sample]) -> int | None:
    """Return cached prompt tokens of a pass of bench_serving, those of its warm-up left out.

    It sends its first prompt twice before it empties the cache (0.5.10, `bench_serving.py`).
    """
    if cached is None or not samples:
        return cached
    return max(0, cached - WARM_UPS * (samples[0].input_tokens or 0))


def graph_note(lines: DecodeLines) -> str:
    """Return the alarm that decode ran without CUDA graphs, or nothing."""
    if not lines.without_graphs:
        return ""
    return f"{lines.without_graphs} of {lines.lines} decode lines ran without CUDA graphs"
