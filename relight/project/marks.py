"""Where each value of a YAML file stands, so that every complaint can name its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from relight.errors import Fault

Key = str | int
Trail = tuple[Key, ...]
"""The way from a file's top to a value: keys of mappings, indexes of lists."""


@dataclass(frozen=True)
class Mark:
    """The (line, column) of a value and of its key, counted from 1; a list item has no own key."""

    key: tuple[int, int]
    value: tuple[int, int]


class Placer(Protocol):
    """Whatever can say where a value stands, and so make a fault of it."""

    def fault(
        self, trail: Iterable[Key], what: str, right: str = "", *, key: bool = False
    ) -> Fault:
        """Return a fault at a value, or at its key."""


@dataclass(frozen=True)
class Document:
    """One file as plain Python data, and the place of everything in it.

    `oddities` names values that YAML reads in a way few people mean (`010` is 8): what was
    written and what it became, for those who want a number there.
    """

    path: str
    data: Any
    marks: Mapping[Trail, Mark]
    oddities: Mapping[Trail, str] = field(default_factory=dict)

    def value_at(self, trail: Iterable[Key]) -> tuple[int, int]:
        """Return where a value stands, or the nearest value around it."""
        return self._nearest(tuple(trail)).value

    def key_at(self, trail: Iterable[Key]) -> tuple[int, int]:
        """Return where a key stands, or the nearest key around it."""
        return self._nearest(tuple(trail)).key

    def fault(
        self, trail: Iterable[Key], what: str, right: str = "", *, key: bool = False
    ) -> Fault:
        """Return a fault at a value of this file, or at its key."""
        line, column = self.key_at(trail) if key else self.value_at(trail)
        return Fault(self.path, line, column, what, right)

    def origin(self, trail: Iterable[Key]) -> str:
        """Return `file:line` of a key."""
        return f"{self.path}:{self.key_at(trail)[0]}"

    def _nearest(self, trail: Trail) -> Mark:
        for length in range(len(trail), -1, -1):
            mark = self.marks.get(trail[:length])
            if mark is not None:
                return mark
        return Mark((1, 1), (1, 1))


@dataclass(frozen=True)
class Part:
    """A value inside a document, which counts trails from itself."""

    document: Document
    top: Trail = ()

    def fault(
        self, trail: Iterable[Key], what: str, right: str = "", *, key: bool = False
    ) -> Fault:
        """Return a fault at a value inside, or at its key."""
        return self.document.fault((*self.top, *trail), what, right, key=key)


def written_in_a_command_line(option: str, data: Any) -> Document:
    """Return data that stands in no file: its faults name the option only."""
    nowhere = Mark((0, 0), (0, 0))
    return Document(option, data, {(): nowhere})
