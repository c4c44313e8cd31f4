"""The ledger of a service: append-only lines, read with tolerance for what a power cut tore."""

from __future__ import annotations

import json
from typing import Any

from relight.core.model import Frozen


class Entry(Frozen):
    """One line: when (UTC, as the host wrote it), what happened, under which fence, and details."""

    t: str = ""
    event: str
    fence: int = 0
    details: dict[str, Any] = {}

    def text(self, name: str) -> str:
        """Return a detail as text, or nothing."""
        value = self.details.get(name)
        return "" if value is None else str(value)

    def figure(self, name: str) -> str:
        """Return a number with one digit behind its point, or `-` where there is none."""
        value = self.details.get(name)
        known = isinstance(value, int | float) and not isinstance(value, bool)
        return f"{value:.1f}" if known else "-"


class Ledger(Frozen):
    """Entries in their order, and how many lines could not be read."""

    entries: tuple[Entry, ...] = ()
    unreadable: int = 0

    def last(self, *events: str) -> Entry | None:
        """Return the newest entry of these kinds."""
        return next((entry for entry in reversed(self.entries) if entry.event in events), None)

    def of_release(self, release: str, *events: str) -> Entry | None:
        """Return the newest entry of these kinds that names a release."""
        return next(
            (
                entry
                for entry in reversed(self.entries)
                if entry.event in events and entry.details.get("release") == release
            ),
            None,
        )


UNFINISHED = frozenset({"locked", "armed", "stopping", "stopped", "started", "failed", "ready"})
"""Events after which a deploy has neither been confirmed nor undone."""


def read_ledger(text: str) -> Ledger:
    """Return the entries of a ledger; a line that is no JSON object is counted, never fatal."""
    entries: list[Entry] = []
    unreadable = 0
    for line in text.splitlines():
        if not line.strip():
            continue
        entry = _entry(line)
        if entry is None:
            unreadable += 1
        else:
            entries.append(entry)
    return Ledger(entries=tuple(entries), unreadable=unreadable)


def _entry(line: str) -> Entry | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("event"), str):
        return None
    fence = data.get("fence")
    return Entry(
        t=str(data.get("t", "")),
        event=data["event"],
        fence=fence if isinstance(fence, int) else 0,
        details={
            str(name): value for name, value in data.items() if name not in ("t", "event", "fence")
        },
    )


def fields(**details: Any) -> str:
    """Return details as the inside of a JSON object on one line, for the host's `record`."""
    return json.dumps(details, separators=(",", ":"), ensure_ascii=True, default=str)[1:-1]
