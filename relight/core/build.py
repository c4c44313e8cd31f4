"""What an installed engine build accepts, and what it says of a command line before it runs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from relight.core.flags import FlagValue
from relight.core.model import Frozen


class BuildFlag(Frozen):
    """One flag of an installed build, as its parser declares it.

    `names` are without dashes, the first one is the flag's own. `type` is the name of the
    conversion (`int`, `float`, `str`, or a function of the engine; None for a switch). `nargs` is 0
    for a switch. `instead` is what the engine says to write in place of a deprecated flag.
    """

    names: tuple[str, ...] = Field(min_length=1)
    dest: str
    type: str | None = None
    choices: tuple[JsonValue, ...] | None = None
    default: JsonValue = None
    nargs: int | str | None = None
    required: bool = False
    deprecated: bool = False
    instead: str | None = None

    @property
    def switch(self) -> bool:
        """Whether the flag takes no value."""
        return self.nargs == 0


class Build(Frozen):
    """The flag set of one engine build: read once per host and build, then kept."""

    version: str
    python: str = ""
    how: str = ""
    note: str = ""
    flags: tuple[BuildFlag, ...]


class FlagFault(Frozen):
    """What is wrong with one flag, and what would be right; `warning` faults may be ignored.

    `drop`, `set` give the repair as data where there is exactly one.
    """

    flag: str
    kind: Literal[
        "unknown",
        "renamed",
        "abbreviated",
        "ambiguous",
        "choice",
        "type",
        "deprecated",
        "forgotten",
    ]
    message: str
    warning: bool = False
    drop: tuple[str, ...] = ()
    set: dict[str, FlagValue] = {}


class CheckVerdict(Frozen):
    """What the engine's own checks said of one command line.

    `where` is file and line of the check. `uncertain` marks a refusal that only says that this
    process saw no GPU.
    """

    name: str
    ok: bool
    kind: str = ""
    message: str = ""
    where: str = ""
    uncertain: bool = False


class Explained(Frozen):
    """One argument, as it was asked for and as it is; `rule` names why, where that is known."""

    flag: str
    requested: JsonValue = None
    resolved: JsonValue = None
    rule: str = ""
    why: str = ""


class Explanation(Frozen):
    """What the server does with what was asked: kept, lost, and changed without being asked."""

    kept: tuple[Explained, ...] = ()
    lost: tuple[Explained, ...] = ()
    changed: tuple[Explained, ...] = ()


class PastedCommand(Frozen):
    """A launch command that somebody pasted, as the fields of a preset and a service."""

    engine: str
    model: str | None = None
    served_name: str | None = None
    port: int | None = None
    flags: dict[str, FlagValue] = {}
    env: dict[str, str] = {}
    secrets: tuple[str, ...] = ()
    """Variables and flags whose values were left out: they are secrets."""
    gpus: tuple[int, ...] = ()
    python: str | None = None
    notes: tuple[str, ...] = ()
