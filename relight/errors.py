"""Every error that relight raises for a person, and the exit code that each ends in.

RelightError
 +- InputFaults      the project's files are wrong: all faults of all files at once
 +- UsageError       the command line is wrong
 +- Unreachable      a host cannot be reached, or stopped answering
 +- HostError        a host was reached, and refused or lacks something
 +- Busy             another deploy holds the service
 +- Interrupted      the operator said stop
"""

from __future__ import annotations

from dataclasses import dataclass

EXIT_OK = 0
EXIT_FAILED = 2
EXIT_ROLLED_BACK = 3
EXIT_UNREACHABLE = 4
EXIT_DARK = 5
EXIT_BUSY = 6
EXIT_INTERRUPTED = 130


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong in a file: where, what, and what would be right.

    `line` and `column` count from 1; 0 means that the file as a whole is meant.
    """

    file: str
    line: int
    column: int
    what: str
    right: str = ""

    def __str__(self) -> str:
        """Return `file:line:col: what; right`, the form that editors jump to."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.what}; {self.right}" if self.right else f"{place}: {self.what}"


class RelightError(Exception):
    """An error whose text is written for the operator, never shown as a traceback."""

    exit_code = EXIT_FAILED


class InputFaults(RelightError):
    """The project's files do not hold together; carries every fault, sorted by place."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self.faults = tuple(sorted(set(faults)))
        super().__init__("\n".join(str(fault) for fault in self.faults))


class UsageError(RelightError):
    """The command line asks for something that does not exist."""


class Unreachable(RelightError):
    """A host could not be reached, or fell silent: `host`, and why."""

    exit_code = EXIT_UNREACHABLE

    def __init__(self, host: str, why: str) -> None:
        self.host = host
        super().__init__(f"{host}: unreachable: {why}")


class HostError(RelightError):
    """A host was reached but cannot do what was asked: `host`, what, and what would help."""

    def __init__(self, host: str, what: str, right: str = "") -> None:
        self.host = host
        self.what = what
        super().__init__(f"{host}: {what}; {right}" if right else f"{host}: {what}")


class Busy(RelightError):
    """Another deploy holds the service."""

    exit_code = EXIT_BUSY


class Interrupted(RelightError):
    """The operator interrupted; what had begun was undone or says how to finish it."""

    exit_code = EXIT_INTERRUPTED
