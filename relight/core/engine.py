"""What an engine plug-in must say: how to launch it, how to read it, what must never be dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import Field, JsonValue, model_validator

from relight.core.build import Build, CheckVerdict, Explanation, FlagFault, PastedCommand
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


class Spread(Frozen):
    """How many GPUs of one host flags ask for, and the flags that say so, as they are written.

    `by` is the flag that would say it where none does.
    """

    gpus: int
    flags: tuple[str, ...] = ()
    by: str


class Limits(Frozen):
    """What a running server takes: requests at once, tokens of one request; None is unknown."""

    running_requests: int | None = None
    context_length: int | None = None


class SecretFile(Frozen):
    """How an engine takes flags from a file (a JSON object): values no command line may show."""

    option: str
    name: str


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
    compared: tuple[str, ...]
    """Flags that make another subject of a benchmark: only where they agree, numbers compare."""
    endpoints: Endpoints
    secret_flags: frozenset[str]
    """Flags whose values are secrets: a preset refers to them, and never holds them."""
    secret_file: SecretFile

    def command(self, request: ServerRequest) -> tuple[str, ...]:
        """Return the launch's words, the program first."""

    def model_path(self, request: ServerRequest) -> str:
        """Return the model as the host names it: a folder, or a hub's name."""

    def spread(self, flags: Flags) -> Spread | None:
        """Return how many GPUs a server with these flags takes; None where they do not say."""

    def limits(self, info: Mapping[str, JsonValue]) -> Limits:
        """Return what a server takes, from what it says of itself (`endpoints.info`)."""

    def version_script(self, spec: EngineSpec) -> str:
        """Return a shell script that prints the installed version and loads nothing heavy."""

    def reader(self) -> LogReader:
        """Return a reader for one log."""

    def canonical(self, flag: str) -> str:
        """Return the flag's one name among its aliases."""

    def arguments(self, request: ServerRequest) -> tuple[str, ...]:
        """Return the words of a launch that the engine's parser reads: all but the program."""

    def python_of(self, spec: EngineSpec) -> str:
        """Return shell lines that leave the engine's Python in `$py`, or end with a message."""

    def flags_script(self) -> str:
        """Return a Python script (stdin of the engine's Python) that prints the build's flags."""

    def read_build(self, text: str) -> Build:
        """Return the flag set that the script printed; raises ValueError when it is none."""

    def checks_script(self, candidates: Mapping[str, Sequence[str]]) -> str:
        """Return a Python script that prints the engine's own verdict on each command line.

        `candidates` are names and what `arguments` gives: base, then base and one layer each.
        """

    def read_checks(self, text: str) -> tuple[CheckVerdict, ...]:
        """Return the verdicts that the script printed; raises ValueError when there are none."""

    def check_flags(self, flags: Flags, installed: Build) -> tuple[FlagFault, ...]:
        """Return what the build's parser would refuse, or warn of."""

    def respelled(self, flags: Mapping[str, FlagValue], installed: Build) -> Flags:
        """Return flags in the build's own names, where versions spell them differently."""

    def forgotten(
        self,
        flags: Mapping[str, FlagValue],
        config: Mapping[str, object] | None = None,
        gpus: int | None = None,
    ) -> tuple[FlagFault, ...]:
        """Return what the engine accepts and should not; `config` is the model's, where known."""

    def explain(
        self,
        requested: Mapping[str, FlagValue],
        info: Mapping[str, JsonValue],
        reading: Reading,
        installed: Build | None = None,
        sm: float | None = None,
    ) -> Explanation:
        """Return asked and got, asked and not got, changed without being asked.

        `info` is what the server says of itself (`endpoints.info`); `sm` the compute capability.
        """

    def kept_info(
        self,
        info: Mapping[str, JsonValue],
        requested: Mapping[str, FlagValue],
        installed: Build | None = None,
    ) -> dict[str, JsonValue]:
        """Return what may be stored of the server's description of itself: never a secret."""

    def import_command(self, text: str) -> PastedCommand:
        """Return the preset's fields of a pasted command; raises ValueError when it is none."""


def merged(base: Flags, *more: dict[str, FlagValue]) -> Flags:
    """Return flags laid over each other, later ones first to win, the first order kept."""
    result: Flags = dict(base)
    for flags in more:
        result.update(flags)
    return result
