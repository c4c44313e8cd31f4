"""A service's benchmarks over its releases: rows for a table, and a plot as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from relight.core.measure.measurement import Measurement
from relight.core.measure.metrics import summarize
from relight.core.measure.verdict import Verdict
from relight.core.model import Frozen

COLUMNS = (
    "release",
    "when",
    "tool",
    "tok/s",
    "step ms",
    "tokens/step",
    "accept len",
    "TTFT ms",
    "loaded tok/s",
    "verdict",
)
PLOTTED = ("tok_s", "step_ms", "accept_len")
_LABELS = {"tok_s": "tok/s", "step_ms": "step ms", "accept_len": "accept length"}
_AXIS = 9


class Entry(Frozen):
    """One stored benchmark: of which release and launch, what came of it, whether known-good.

    `launch` is None in what was stored before launches were.
    """

    release: str
    launch: int | None = None
    measurement: Measurement
    verdict: Verdict | None = None
    known_good: bool = False


def starts(entries: Sequence[Entry]) -> tuple[Measurement, ...]:
    """Return the newest run of each launch, oldest first.

    One start is one sample, however often it was measured.
    """
    newest: dict[tuple[str, int], Measurement] = {}
    for at, one in enumerate(entries):
        launch = -at - 1 if one.launch is None else one.launch
        newest.pop((one.release, launch), None)
        newest[one.release, launch] = one.measurement
    return tuple(newest.values())


def by_config(
    entries: Sequence[Entry], without: str | None = None
) -> tuple[tuple[Measurement, ...], ...]:
    """Return the starts of each release but one: they tell how much this host's restarts differ."""
    groups: dict[str, list[Entry]] = {}
    for one in entries:
        if one.release != without:
            groups.setdefault(one.release, []).append(one)
    return tuple(starts(group) for group in groups.values())


def rows(entries: Sequence[Entry]) -> tuple[tuple[str, ...], ...]:
    """Return a row for each benchmark, oldest first, under `COLUMNS`; `-` is not measured."""
    return tuple(_row(entry) for entry in entries)


def _row(entry: Entry) -> tuple[str, ...]:
    run = entry.measurement
    figures = summarize(run)
    mark = " *" if entry.known_good else ""
    return (
        f"{entry.release}{mark}",
        run.started[:16].replace("T", " "),
        run.tool,
        _figure(figures.tok_s),
        _figure(figures.step_ms),
        _figure(figures.tokens_per_step, 2),
        _figure(figures.accept_len, 2),
        _figure(figures.ttft_ms, 0),
        _figure(figures.loaded_tok_s),
        entry.verdict.answer.value if entry.verdict else "-",
    )


def plots(entries: Sequence[Entry], width: int = 60, height: int = 6) -> tuple[str, ...]:
    """Return plots of tok/s, step time and accept length over releases, one under the other.

    Only runs of the newest entry's tool are drawn: numbers of two tools are never on one axis.
    """
    if not entries:
        return ()
    tool = entries[-1].measurement.tool
    drawn = [entry for entry in entries if entry.measurement.tool == tool][-width:]
    marks = ["●" if entry.known_good else "○" for entry in drawn]
    lines: list[str] = []
    for name in PLOTTED:
        values = [_value(entry, name) for entry in drawn]
        # An accept length of 1 throughout is no speculation: nothing to draw.
        if any(value is not None and (name != "accept_len" or value != 1) for value in values):
            lines += [*_plot(f"{_LABELS[name]} ({tool})", values, marks, width, height), ""]
    if lines:
        lines.append(f"{'':{_AXIS}}  {drawn[0].release} to {drawn[-1].release}; ● known-good")
    return tuple(lines)


def _value(entry: Entry, name: str) -> float | None:
    figures = summarize(entry.measurement)
    value = getattr(figures, name)
    if name == "accept_len" and value is None:
        value = figures.tokens_per_step
    return value if isinstance(value, float) else None


def _plot(
    title: str, values: Sequence[float | None], marks: Sequence[str], width: int, height: int
) -> list[str]:
    known = [value for value in values if value is not None]
    low, high = min(known), max(known)
    room = max((high - low) * 0.1, high * 0.01)
    low, high = max(0.0, low - room), high + room
    space = max(1, min(6, width // max(1, len(values))))
    grid = [[" "] * (space * len(values)) for _ in range(height)]
    for at, value in enumerate(values):
        if value is not None:
            level = round((value - low) / (high - low) * (height - 1))
            grid[height - 1 - level][at * space] = marks[at]
    lines = [f"{'':{_AXIS}}  {title}"]
    for level, cells in enumerate(grid):
        here = high - (high - low) * level / (height - 1)
        label = f"{here:{_AXIS}.2f}" if level in (0, height - 1) else " " * _AXIS
        lines.append(f"{label} |{''.join(cells)}".rstrip())
    lines.append(f"{'':{_AXIS}} +{'-' * (space * len(values))}")
    return lines


def _figure(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
