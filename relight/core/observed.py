"""What a host says of one service: the host script's answers, read as untrusted text."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import ValidationError

from relight.core.ledger import Ledger, read_ledger
from relight.core.model import Frozen
from relight.core.release import Release

State = Literal["none", "running", "exited", "stopped", "rebooted", "lost"]
_STATES: frozenset[str] = frozenset({"none", "running", "exited", "stopped", "rebooted", "lost"})


class Observed(Frozen):
    """One service as it stands on its host; `since` and `now` are epoch seconds of the host."""

    state: State = "none"
    dir: str = ""
    boot: str = ""
    fence: int = 0
    current: str | None = None
    known_good: str | None = None
    releases: tuple[str, ...] = ()
    launch: int = 0
    launch_release: str | None = None
    since: int = 0
    now: int = 0
    exit: int | None = None
    pid: int | None = None
    pids: tuple[int, ...] = ()
    log_bytes: int = 0
    stopping: bool = False
    restarts: int = 0
    locked: bool = False
    holder: str = ""
    deadman: Literal["none", "armed", "stale"] = "none"
    deadman_left: int = 0
    free_kb: int | None = None
    port_pids: tuple[int, ...] = ()
    foreign: tuple[str, ...] = ()
    release: Release | None = None
    ledger: Ledger = Ledger()

    def with_release(self, release: str) -> Observed:
        """Return the same state with one more release known."""
        known = (*self.releases, release) if release not in self.releases else self.releases
        return self.model_copy(update={"releases": known})

    @property
    def confirmed(self) -> bool:
        """Return whether what runs is the known-good, and was not told to stop."""
        return (
            self.state == "running"
            and not self.stopping
            and self.current is not None
            and (self.current == self.known_good)
        )

    @property
    def settled(self) -> bool:
        """Return whether what runs is the known-good, or was kept on purpose without being it."""
        if self.confirmed or self.state != "running":
            return self.confirmed
        events = ("started", "kept", "promoted", "confirmed", "rolled_back", "deadman_fired")
        last = self.ledger.last(*events)
        return last is not None and last.event == "kept" and last.text("release") == self.current

    @property
    def known_good_before(self) -> str | None:
        """Return the release that was known-good before the present one and is still stored."""
        for entry in reversed(self.ledger.entries):
            release = entry.text("release")
            promoted = entry.event == "promoted" and release in self.releases
            if promoted and release != self.known_good:
                return release
        return None


class Pulse(Frozen):
    """One look at a launch while it is watched."""

    state: State = "none"
    exit: int | None = None
    pids: tuple[int, ...] = ()
    ticks: int = 0
    log_bytes: int = 0
    port_pids: tuple[int, ...] = ()
    fence: int = 0
    foreign: tuple[str, ...] = ()

    @property
    def owns_port(self) -> bool:
        """Return whether the port is held by the launch's own tree, and by nobody else."""
        return bool(self.port_pids) and not self.foreign and set(self.port_pids) <= set(self.pids)


def read_status(text: str) -> Observed:
    """Return the answer of `host.sh status`; what cannot be read counts as absent."""
    head, _, ledger = text.partition("\nledger:\n")
    head, _, lock = head.partition("\nrelease_json:\n")
    facts, foreign = _facts(head)
    deadman = facts.get("deadman", "none").split()
    kind = deadman[0] if deadman and deadman[0] in ("armed", "stale") else "none"
    return Observed(
        state=_state(facts),
        dir=facts.get("dir", ""),
        boot=facts.get("boot", ""),
        fence=number(facts.get("fence")) or 0,
        current=facts.get("current") or None,
        known_good=facts.get("known_good") or None,
        releases=tuple(facts.get("releases", "").split()),
        launch=number(facts.get("launch")) or 0,
        launch_release=facts.get("launch_release") or None,
        since=number(facts.get("since")) or 0,
        now=number(facts.get("now")) or 0,
        exit=number(facts.get("exit")),
        pid=number(facts.get("pid")),
        pids=_numbers(facts.get("pids")),
        log_bytes=number(facts.get("log_bytes")) or 0,
        stopping=facts.get("stopping") == "yes",
        restarts=number(facts.get("restarts")) or 0,
        locked=facts.get("lock") == "held",
        holder=read_holder(facts["holder"]) if facts.get("holder") else "",
        deadman="armed" if kind == "armed" else "stale" if kind == "stale" else "none",
        deadman_left=(number(deadman[1]) or 0) if len(deadman) > 1 else 0,
        free_kb=number(facts.get("free_kb")),
        port_pids=_numbers(facts.get("port_pids")),
        foreign=foreign,
        release=read_release(lock),
        ledger=read_ledger(ledger),
    )


def read_pulse(text: str) -> Pulse:
    """Return the answer of `host.sh pulse`."""
    facts, foreign = _facts(text)
    return Pulse(
        state=_state(facts),
        exit=number(facts.get("exit")),
        pids=_numbers(facts.get("pids")),
        ticks=number(facts.get("ticks")) or 0,
        log_bytes=number(facts.get("log_bytes")) or 0,
        port_pids=_numbers(facts.get("port_pids")),
        fence=number(facts.get("fence")) or 0,
        foreign=foreign,
    )


def read_holder(text: str) -> str:
    """Return who holds a lock, since when and why, in words; the text is what the host keeps."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        return "another deploy"
    words = {
        name: "".join(char for char in str(told.get(name, ""))[:80] if char.isprintable())
        for name in ("who", "pid", "since", "why")
    }
    return "{who} (process {pid}) since {since}: {why}".format_map(words)


def read_release(text: str) -> Release | None:
    """Return a stored lockfile, or None when it is not one (torn, or of another relight)."""
    try:
        return Release.model_validate_json(text)
    except ValidationError:
        return None


def number(text: str | None) -> int | None:
    """Return a whole number that a host printed, or None for anything else."""
    return int(text) if text and text.isascii() and text.lstrip("-").isdigit() else None


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(found for word in (text or "").split() if (found := number(word)) is not None)


def _state(facts: dict[str, str]) -> State:
    state = facts.get("state", "none")
    return state if state in _STATES else "none"  # type: ignore[return-value]


def _facts(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    facts: dict[str, str] = {}
    foreign: list[str] = []
    for line in text.splitlines():
        name, separator, value = line.partition("=")
        if separator and name == "foreign":
            foreign.append("".join(char for char in value if char.isprintable()))
        elif separator:
            facts.setdefault(name, value.strip())
    return facts, tuple(foreign)
