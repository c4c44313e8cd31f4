"""What an engine's log tells as it starts and serves: typed events, the same for every engine."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import JsonValue

from relight.core.failure import Diagnosis
from relight.core.model import Frozen


class Stage(StrEnum):
    """The stages of a start, in their usual order (engines may repeat or skip some)."""

    IMPORT = "import"
    RESOLVE = "resolve"
    SPAWN = "spawn"
    DIST = "dist"
    LOAD = "load"
    KVPOOL = "kvpool"
    CAPTURE = "capture"
    HTTP = "http"
    WARMUP = "warmup"
    READY = "ready"
    SERVING = "serving"
    SHUTDOWN = "shutdown"


class StageReached(Frozen):
    """A stage began (or repeated, for the draft model)."""

    kind: Literal["stage"] = "stage"
    stage: Stage
    line: int
    at: str | None = None


class Progress(Frozen):
    """How far a stage is, in percent."""

    kind: Literal["progress"] = "progress"
    stage: Stage
    percent: float
    what: str


class Fact(Frozen):
    """Something the engine said of itself: KV tokens, memory left, NCCL version, a backend."""

    kind: Literal["fact"] = "fact"
    name: str
    value: str | int | float | bool
    line: int


class Batch(Frozen):
    """A prefill or decode line, as key and value whatever the version prints."""

    kind: Literal["batch"] = "batch"
    phase: Literal["prefill", "decode"]
    values: dict[str, str | int | float | bool]
    line: int


class ReadyLine(Frozen):
    """The engine says that it is ready; on its own this proves nothing."""

    kind: Literal["ready"] = "ready"
    line: int


LogEvent = StageReached | Progress | Fact | Batch | ReadyLine


class Ending(Frozen):
    """What is known of the process beside its log when a verdict is asked for.

    `state`: `running`, `exited`, `hung` (alive and silent beyond the stall limit) or `unknown`
    (only the log is there). `exit` is the status as a shell reports it (137 = SIGKILL).
    """

    state: Literal["running", "exited", "hung", "unknown"] = "unknown"
    exit: int | None = None
    port_holder: str = ""
    oom_killed: bool = False


class Reading(Frozen):
    """Everything that one log came to."""

    ready: bool
    stage: Stage
    terminal: bool
    diagnosis: Diagnosis | None
    timeline: tuple[StageReached, ...] = ()
    facts: dict[str, str | int | float | bool] = {}
    arguments: dict[str, JsonValue] = {}
    """What the engine says it made of its command line, without secrets; {} where it does not."""
