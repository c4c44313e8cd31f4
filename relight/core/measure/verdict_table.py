"""A verdict as a small table: metric, known-good, now, change with its interval, answer."""

from __future__ import annotations

from relight.core.measure.comparison import Comparison
from relight.core.measure.verdict import Verdict

COLUMNS = ("metric", "known-good", "now", "change", "95 % interval", "answer")


def rows(verdict: Verdict) -> tuple[tuple[str, ...], ...]:
    """Return a row for each metric under `COLUMNS`; those that decide come first, marked `*`."""
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
