"""One variable of a host: its value as written, and the file and line that say it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from relight.errors import Fault
from relight.project.marks import Document, Key, Part, Trail, written_in_a_command_line


@dataclass(frozen=True)
class Variable:
    """A value, and where it stands."""

    value: Any
    document: Document
    trail: Trail

    @property
    def origin(self) -> str:
        """Return `file:line`, or the option that set it."""
        line, _ = self.document.key_at(self.trail)
        return f"{self.document.path}:{line}" if line else self.document.path

    @property
    def place(self) -> Part:
        """Return what makes faults inside of the value."""
        return Part(self.document, self.trail)

    def fault(self, what: str, right: str = "", trail: Iterable[Key] = ()) -> Fault:
        """Return a fault at the value, or at something inside of it."""
        return self.place.fault(trail, what, right)


Variables = dict[str, Variable]


def built_in(value: Any) -> Variable:
    """Return a variable that no file says: a host's name and groups."""
    return Variable(value, written_in_a_command_line("(built in)", value), ())


def of_document(document: Document, trail: Trail = ()) -> tuple[Variables, tuple[Fault, ...]]:
    """Return the variables that a mapping inside a document says, and what is wrong with names."""
    data: Any = document.data
    for key in trail:
        data = data[key]
    found: Variables = {}
    faults: list[Fault] = []
    for name, value in (data or {}).items():
        if isinstance(name, str) and name.isidentifier():
            found[name] = Variable(value, document, (*trail, name))
        else:
            right = "letters, digits and _, not beginning with a digit"
            what = f"{str(name)[:60]!r} is no name of a variable"
            faults.append(document.fault((*trail, name), what, right, key=True))
    return found, tuple(faults)
