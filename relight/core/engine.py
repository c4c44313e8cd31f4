"""What an engine plug-in must say: how to launch it, how to read it, what must never be dropped."""

from __future__ import annotations

from typing import Protocol

from pydantic import Field, model_validator

from relight.core.flags import Flags, FlagValue
from relight.core.model import Frozen
from relight.core.startup import Ending, LogEvent, Reading


class EngineSpec(Frozen):
    """How a host runs its engine (`relight_engine`): a Python that has it, or a command.

    `archive` names a package of relight that is shipped as one zip file and put on that Python's
    path (`standin`, or `standin:0.5.23` for a variant). `model_root` is put before relative models.
    """

    python: str | None = None
    command: tuple[str, ...] | None = None
    archive: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*(:[A-Za-z0-9_.]+)?$")
    model_root: str | None = None
    env: dict[str, str] = {}

    @model_validator(mode="after")
    def _one(self) -> EngineSpec:
        if (self.python is None) == (self.command is None):
            raise ValueError("an engine is run by exactly one of python, command")
        return self


class ServerRequest(Frozen):
    """Everything that decides an engine's command line."""

    spec: EngineSpec
    model: str
    served_name: str
    port: int
    flags: Flags


class Endpoints(Frozen):
    """Paths of an engine's HTTP face."""

    health: str
    models: str
    chat: str
    info: str
    load: str


class LogReader(Protocol):
    """Reads one log from its first byte on, in constant memory."""

    def feed(self, data: bytes) -> tuple[LogEvent, ...]:
        """Take the next bytes, cut anywhere, and return what they tell."""

    def close(self) -> tuple[LogEvent, ...]:
        """Take what is left as a last line."""

    def reading(self, ending: Ending) -> Reading:
        """Say what the log came to, given how the process stands; may be asked at any time."""


class Engine(Protocol):
    """One engine, as data and pure functions; a plug-in is one module under `relight.engines`."""

    name: str
    protected: frozenset[str]
    """Flags that no fallback may drop or change: they alter results, interface or security."""
    reserved: dict[str, str]
    """Flags that the service or preset already binds -> the key to write instead."""
    endpoints: Endpoints

    def command(self, request: ServerRequest) -> tuple[str, ...]:
        """Return the launch's words, the program first."""

    def version_script(self, spec: EngineSpec) -> str:
        """Return a shell script that prints the installed version and loads nothing heavy."""

    def reader(self) -> LogReader:
        """Return a reader for one log."""

    def canonical(self, flag: str) -> str:
        """Return the flag's one name among its aliases."""


def merged(base: Flags, *more: dict[str, FlagValue]) -> Flags:
    """Return flags laid over each other, later ones first to win, the first order kept."""
    result: Flags = dict(base)
    for flags in more:
        result.update(flags)
    return result
