"""What a person sees: events as plain lines, as JSON Lines, or live on a terminal."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from relight.core.duration import spell
from relight.core.events import (
    AttemptEnded,
    Diagnosed,
    DiffShown,
    Dropped,
    Event,
    HostRecap,
    LaunchProgress,
    Note,
    PlayStarted,
    Recap,
    Table,
    TaskEnded,
    TaskStarted,
    Text,
)
from relight.core.failure import Remedy

_STYLE = {
    "ok": "green",
    "changed": "yellow",
    "failed": "bold red",
    "unreachable": "bold red",
    "skipped": "cyan",
    "rescued": "magenta",
    "ignored": "magenta",
}


class JsonReport:
    """One event a line, as docs/events.md describes."""

    def __init__(self, out: IO[str], scrub: Callable[[str], str]) -> None:
        self._out, self._scrub = out, scrub
        self._mutex = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Write one event."""
        text = json.dumps(
            event.model_dump(mode="json", by_alias=True), ensure_ascii=False, default=str
        )
        with self._mutex:
            print(self._scrub(text), file=self._out, flush=True)

    def close(self) -> None:
        """Nothing is held back."""


class PlainReport:
    """Lines for a person or a log file; `color` colours the status words."""

    def __init__(self, out: IO[str], scrub: Callable[[str], str], *, color: bool = False) -> None:
        self._out, self._scrub, self._color = out, scrub, color
        self._mutex = threading.Lock()
        self._stages: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        """Write what one event says, if it says anything."""
        with self._mutex:
            for line in self._lines(event):
                self._write(self._scrub(line))

    def close(self) -> None:
        """Nothing is held back."""

    def _write(self, line: str) -> None:
        print(line, file=self._out, flush=True)

    def _paint(self, word: str, style: str) -> str:
        codes = {"green": 32, "yellow": 33, "bold red": 31, "cyan": 36, "magenta": 35}
        return f"\x1b[{codes[style]}m{word}\x1b[0m" if self._color and style in codes else word

    def _lines(self, event: Event) -> list[str]:
        match event:
            case TaskEnded():
                return self._task(event)
            case LaunchProgress():
                return self._progress(event)
            case Recap():
                return [self._recap(host, counts) for host, counts in event.hosts.items()]
            case _:
                return _said(event)

    def _task(self, event: TaskEnded) -> list[str]:
        status = self._paint(event.status, _STYLE[event.status])
        item = f" [{event.item}]" if event.item is not None else ""
        head = f"{event.host}: {event.task}{item}: {status} ({spell(event.seconds)})"
        first, *more = event.msg.splitlines() or [""]
        return [f"{head} {first}".rstrip(), *(f"    {line}" for line in more)]

    def _progress(self, event: LaunchProgress) -> list[str]:
        """A line a stage: progress within one is for terminals."""
        key = f"{event.host}/{event.service}"
        stage = f"{event.attempt} {event.stage}"
        if self._stages.get(key) == stage:
            return []
        self._stages[key] = stage
        return [f"{key}: attempt {event.attempt}: {event.stage} ({_timing(event)})"]

    def _recap(self, host: str, counts: HostRecap) -> str:
        words = [f"{name}={value}" for name, value in counts.model_dump().items()]
        good = not (counts.failed or counts.unreachable)
        return f"{self._paint(host, 'green' if good else 'bold red')} : {'  '.join(words)}"


class LiveReport(PlainReport):
    """Plain lines above, and one live line a launch below, on a terminal."""

    def __init__(self, out: IO[str], scrub: Callable[[str], str], *, color: bool = True) -> None:
        super().__init__(out, scrub, color=color)
        from rich.console import Console  # noqa: PLC0415 - start-up time: only a terminal needs it
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn  # noqa: PLC0415

        self._console = Console(file=out, no_color=not color, highlight=False, markup=False)
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[elapsed]}", markup=False),
            console=self._console,
            transient=True,
        )
        self._bars.start()
        self._rows: dict[str, Any] = {}

    def close(self) -> None:
        """Take the live lines away."""
        self._bars.stop()

    def _write(self, line: str) -> None:
        from rich.text import Text as Styled  # noqa: PLC0415 - see __init__

        self._console.print(Styled.from_ansi(line))

    def _progress(self, event: LaunchProgress) -> list[str]:
        key = f"{event.host}/{event.service}"
        percent = f" {event.percent:.0f}%" if event.percent is not None else ""
        text = f"{key} attempt {event.attempt} {event.stage}{percent}"
        if key not in self._rows:
            self._rows[key] = self._bars.add_task(text, total=100, elapsed="")
        self._bars.update(
            self._rows[key],
            description=text,
            completed=event.percent,
            total=100 if event.percent is not None else None,
            elapsed=_timing(event),
        )
        return []

    def _lines(self, event: Event) -> list[str]:
        if isinstance(event, AttemptEnded):
            row = self._rows.pop(f"{event.host}/{event.service}", None)
            if row is not None:
                self._bars.remove_task(row)
        return super()._lines(event)


Report = JsonReport | PlainReport


def open_report(
    out: IO[str], environment: Mapping[str, str], scrub: Callable[[str], str], *, as_json: bool
) -> Report:
    """Return the report that fits where the output goes; NO_COLOR and pipes get plain text."""
    if as_json:
        return JsonReport(out, scrub)
    color = out.isatty() and "NO_COLOR" not in environment
    if out.isatty() and environment.get("TERM") != "dumb":
        return LiveReport(out, scrub, color=color)
    return PlainReport(out, scrub, color=color)


def table_lines(table: Table) -> list[str]:
    """Return a table as aligned text, its title first."""
    widths = [
        max(len(str(row[index])) for row in (table.columns, *table.rows))
        for index in range(len(table.columns))
    ]
    lines = [table.title] if table.title else []
    for row in (table.columns, *table.rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(cells).rstrip())
    return lines


def _said(
    event: PlayStarted
    | TaskStarted
    | AttemptEnded
    | Dropped
    | Note
    | DiffShown
    | Diagnosed
    | Text
    | Table,
) -> list[str]:
    """Return the lines of an event that looks the same everywhere."""
    match event:
        case PlayStarted():
            return [f"PLAY [{event.play}] {', '.join(event.hosts)}"]
        case TaskStarted():
            return []
        case AttemptEnded():
            return _attempt(event)
        case Dropped():
            what = f"{event.host}/{event.service}: goes without {event.what}: {event.reason}"
            return [what, f"    {event.evidence}"] if event.evidence else [what]
        case Note():
            host = f"{event.host}: " if event.host else ""
            level = "" if event.level == "info" else f"{event.level}: "
            return [f"{level}{host}{line}" for line in event.text.splitlines()]
        case DiffShown() | Text():
            return event.text.splitlines()
        case Diagnosed():
            return _diagnosed(event)
        case Table():
            return table_lines(event)


def _diagnosed(event: Diagnosed) -> list[str]:
    """Return the timeline, the verdict, its proof and what would help."""
    lines = [f"{event.source}:"]
    lines += [f"  line {one.line:>6}  {one.at or '':<20} {one.stage}" for one in event.timeline]
    lines += [f"  {name}: {value}" for name, value in sorted(event.facts.items())]
    if event.failure is None:
        ready = "ready, and no failure in it" if event.ready else f"no failure; stage {event.stage}"
        return [*lines, f"verdict: {ready}"]
    flag = f" --{event.flag.lstrip('-')}" if event.flag else ""
    ends = "" if event.terminal else " (it may go on)"
    lines.append(f"verdict: {event.failure}{flag} in stage {event.stage}{ends}: {event.summary}")
    if event.evidence:
        lines.append(f"evidence: line {event.evidence.line}: {event.evidence.text[:500]}")
    return lines + (remedy_lines(event.remedy) if event.remedy else [])


def remedy_lines(remedy: Remedy) -> list[str]:
    """Return what would help, and whether relight may do it alone."""
    parts = [f"drop --{name}" for name in remedy.drop]
    parts += [f"set --{name} {value}" for name, value in remedy.set.items()]
    parts += [f"--{old} is now --{new}" for old, new in remedy.rename.items()]
    parts += [f"raise --{name}" for name in remedy.raise_]
    parts += [f"lower --{name}" for name in remedy.lower]
    parts += [f"export {name}={value}" for name, value in remedy.env.items()]
    words = [remedy.words] if remedy.words else []
    allowed = {"safe": "a deploy does it alone", "bounded": "a deploy may, within bounds"}
    by = allowed.get(remedy.auto, "for you to decide")
    told = "; ".join([*parts, *words])
    return [f"remedy ({by}): {told}"] if told else []


def _timing(event: LaunchProgress) -> str:
    left = "" if event.left is None or event.left < 1 else f", about {spell(event.left)} left"
    return f"{spell(event.seconds)}{left}"


def _attempt(event: AttemptEnded) -> list[str]:
    key = f"{event.host}/{event.service}"
    head = f"{key}: attempt {event.attempt} is {event.verdict} after {spell(event.seconds)}"
    diagnosis = event.diagnosis
    if diagnosis is None:
        return [head]
    flag = f" --{diagnosis.flag.lstrip('-')}" if diagnosis.flag else ""
    lines = [f"{head}: {diagnosis.failure.value}{flag} {diagnosis.summary}".rstrip()]
    if diagnosis.evidence:
        lines.append(f"    line {diagnosis.evidence.line}: {diagnosis.evidence.text[:300]}")
    if diagnosis.remedy.words:
        lines.append(f"    {diagnosis.remedy.words}")
    return lines


def tell_error(message: str, *, stream: IO[str] | None = None) -> None:
    """Write an error for a person to stderr."""
    print(message, file=stream or sys.stderr, flush=True)


Say = Callable[[Event], None]
