"""What happens in a run, as typed events: printed for a person, or as JSON Lines with `--json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from relight.core.failure import Diagnosis, Evidence, Remedy
from relight.core.model import Frozen
from relight.core.startup import StageReached

Status = Literal["ok", "changed", "failed", "skipped", "unreachable", "rescued", "ignored"]


class PlayStarted(Frozen):
    """A play begins on its hosts (one batch of them, with `serial`)."""

    kind: Literal["play"] = "play"
    play: str
    hosts: tuple[str, ...]


class TaskStarted(Frozen):
    """A task begins on one host."""

    kind: Literal["task_started"] = "task_started"
    host: str
    task: str
    module: str


class TaskEnded(Frozen):
    """A task ended on one host; `item` is the loop's item as text, where there is a loop."""

    kind: Literal["task"] = "task"
    host: str
    task: str
    module: str
    status: Status
    seconds: float
    msg: str = ""
    item: str | None = None
    values: dict[str, Any] = {}


class LaunchProgress(Frozen):
    """How far a launch is: its stage, percent within it where known, seconds since the start.

    `left` is an estimate in seconds, from this host's last starts; null where there are none.
    """

    kind: Literal["progress"] = "progress"
    host: str
    service: str
    attempt: int
    stage: str
    seconds: float
    percent: float | None = None
    left: float | None = None
    text: str = ""


class AttemptEnded(Frozen):
    """One launch came to a verdict."""

    kind: Literal["attempt"] = "attempt"
    host: str
    service: str
    attempt: int
    verdict: str
    seconds: float
    diagnosis: Diagnosis | None = None


class Dropped(Frozen):
    """A flag or layer was given up, and why; nothing is ever dropped in silence."""

    kind: Literal["dropped"] = "dropped"
    host: str
    service: str
    what: str
    reason: str
    evidence: str = ""


class Note(Frozen):
    """Something that the operator should know: `level` says how much."""

    kind: Literal["note"] = "note"
    level: Literal["info", "warning", "error"] = "info"
    host: str = ""
    text: str


class DiffShown(Frozen):
    """A change as unified text, shown with `--diff`."""

    kind: Literal["diff"] = "diff"
    host: str
    path: str
    text: str


class HostRecap(Frozen):
    """One host's counts, in Ansible's words and order."""

    ok: int = 0
    changed: int = 0
    unreachable: int = 0
    failed: int = 0
    skipped: int = 0
    rescued: int = 0
    ignored: int = 0
    degraded: int = 0


class Recap(Frozen):
    """The end of a run: every host's counts, and the exit code that the program returns."""

    kind: Literal["recap"] = "recap"
    hosts: dict[str, HostRecap]
    exit_code: int


class Diagnosed(Frozen):
    """What one log came to: `ready`, the last stage, and why it failed where it did.

    `class` is null for a log that shows no failure; `terminal` says that the process cannot go on.
    """

    kind: Literal["diagnosis"] = "diagnosis"
    source: str
    ready: bool
    stage: str
    failure: str | None = Field(default=None, serialization_alias="class")
    flag: str | None = None
    evidence: Evidence | None = None
    remedy: Remedy | None = None
    summary: str = ""
    terminal: bool
    timeline: tuple[StageReached, ...] = ()
    facts: dict[str, str | int | float | bool] = {}


class Table(Frozen):
    """A small table for a person; with `--json` each row is an object under the column names."""

    kind: Literal["table"] = "table"
    title: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Text(Frozen):
    """Text that goes out as it is: a rendered script, a log."""

    kind: Literal["text"] = "text"
    host: str = ""
    text: str


Event = Annotated[
    PlayStarted
    | TaskStarted
    | TaskEnded
    | LaunchProgress
    | AttemptEnded
    | Dropped
    | Note
    | DiffShown
    | Recap
    | Diagnosed
    | Table
    | Text,
    Field(discriminator="kind"),
]
