"""Recorded logs of SGLang and public failures, as the tests of its plug-in read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from relight.core.startup import Ending, LogEvent, Reading
from relight.engines.sglang.reader import SglangReader

DATA = Path(__file__).resolve().parents[2] / "data" / "sglang"
HEALTHY = sorted((DATA / "healthy").glob("*.log"))
FAILING = sorted((DATA / "failing").glob("*.log"))
STATES = {"exit": "exited", "hang": "hung", "runtime": "running"}


@dataclass(frozen=True)
class Case:
    """One public failure: what its log says, and what it is called."""

    id: str
    lines: tuple[str, ...]
    failure: str
    terminal: str
    evidence: str
    auto: str

    def ending(self) -> Ending:
        """Return how the process stood."""
        return Ending.model_validate({"state": STATES[self.terminal]})


def cases(name: str, *evidence: str) -> list[Case]:
    """Return the cases of a file whose evidence is one of the given kinds (none given: all)."""
    rows = [json.loads(line) for line in (DATA / name).read_text().splitlines()]
    return [
        Case(
            row["id"],
            tuple(row["lines"]),
            row["class"],
            row["terminal"],
            row["evidence"],
            row["auto"],
        )
        for row in rows
        if not evidence or row["evidence"] in evidence
    ]


def read(data: bytes, ending: Ending | None = None, chunk: int = 0) -> Reading:
    """Return what a log comes to, fed in chunks."""
    return followed(data, ending, chunk)[0]


def followed(
    data: bytes, ending: Ending | None = None, chunk: int = 0
) -> tuple[Reading, tuple[LogEvent, ...]]:
    """Return what a log comes to, and the events on the way."""
    reader = SglangReader()
    events: list[LogEvent] = []
    for start in range(0, len(data), chunk or len(data) or 1):
        events += reader.feed(data[start : start + (chunk or len(data))])
    events += reader.close()
    return reader.reading(ending or Ending()), tuple(events)


def named(data: bytes, ending: Ending | None = None) -> str | None:
    """Return the class of failure that a log is given, or None."""
    diagnosis = read(data, ending).diagnosis
    return None if diagnosis is None else diagnosis.failure.value


def text(lines: tuple[str, ...]) -> bytes:
    """Return lines as a log has them."""
    return ("\n".join(lines) + "\n").encode()
