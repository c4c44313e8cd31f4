"""A verdict as a small table: metric, known-good, now, change with its interval, answer."""

from __future__ import annotations

from relight.core.measure.comparison import Comparison
from relight.core.measure.metrics import Summary
from relight.core.measure.verdict import Verdict

FIGURES = ("metric", "now")
_FIGURES = (
    ("tok/s, one stream", "tok_s", "tok/s", 1),
    ("step time", "step_ms", "ms", 1),
    ("tokens per step", "tokens_per_step", "", 2),
    ("time to first token", "ttft_ms", "ms", 1),
    ("tok/s a stream, loaded", "loaded_tok_s", "tok/s", 1),
    ("throughput, loaded", "throughput", "tok/s", 1),
)


def columns(then: str = "known-good", now: str = "now") -> tuple[str, ...]:
    """Return the names of the columns of `rows`."""
    return ("metric", then, now, "change", "95 % interval", "answer")


def figures(run: Summary) -> tuple[tuple[str, ...], ...]:
    """Return a row under `FIGURES` for each figure of a run that was compared with nothing."""
    loaded = run.loaded_tok_s is not None
    return tuple(
        (label, f"{value:.{digits}f} {unit}".rstrip())
        for label, name, unit, digits in _FIGURES
        if (value := getattr(run, name)) is not None and (loaded or name != "throughput")
    )


def rows(verdict: Verdict) -> tuple[tuple[str, ...], ...]:
    """Return a row for each metric under `columns`; those that decide come first, marked `*`."""
    ordered = sorted(verdict.rows, key=lambda row: not row.decides)
    return tuple(_row(row) for row in ordered)


def _row(row: Comparison) -> tuple[str, ...]:
    digits = 2 if row.unit == "" else 1
    unit = f" {row.unit}" if row.unit else ""
    return (
        f"{row.label}{' *' if row.decides else ''}",
        f"{row.known_good:.{digits}f}{unit}",
        f"{row.candidate:.{digits}f}{unit}",
        f"{row.change:+.1%}",
        f"{row.low:+.1%} to {row.high:+.1%}",
        row.answer.value,
    )
