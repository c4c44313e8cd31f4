"""What a task renders for sure: where its conditions, its rescue or its errors spare nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from relight.core.language.playbook import Inherited
from relight.project.marks import Document, Trail

_AFTERWARDS = ("until", "changed_when", "failed_when")


@dataclass(frozen=True)
class Use:
    """A value that is rendered for sure whenever the play gets there."""

    document: Document
    trail: Trail
    value: Any
    expression: bool = False
    """Whether the value is a bare expression."""


@dataclass(frozen=True)
class Definition:
    """A variable under `vars` or in a file of variables, as it is written."""

    name: str
    document: Document
    trail: Trail
    value: Any


@dataclass(frozen=True)
class Source:
    """A file of this machine that a task sends, by its literal name; `kind` is its usual folder."""

    document: Document
    trail: Trail
    name: str
    kind: str
    folder: str
    """The folder of the file that the task stands in."""


@dataclass(frozen=True)
class Spot:
    """Where a task or block stands, and what is around it."""

    document: Document
    trail: Trail
    outer: Inherited
    inherited: Inherited
    guarded: bool
    """Whether a rescue covers it."""

    @property
    def spared(self) -> bool:
        """Return whether a failure here is none, or the tasks are not usually run."""
        ignored = self.inherited.options.get("ignore_errors")
        return bool(self.guarded or ignored or "never" in self.inherited.tags)

    @property
    def sure(self) -> bool:
        """Return whether what the task renders is rendered for sure."""
        return not self.spared and not self.inherited.when


def of_conditions(spot: Spot, keywords: Mapping[str, Any]) -> Iterator[Use]:
    """Return the condition that is looked at first, unless another one spares it."""
    if not spot.spared and not spot.outer.when:
        yield from _first(spot, keywords, "when", (*spot.trail, "when"))


def of_task(
    spot: Spot, keywords: Mapping[str, Any], args: Mapping[str, Any], at_args: Trail,
    raw: tuple[str, ...],
) -> Iterator[Use]:  # fmt: skip
    """Return what a task renders; `raw` names arguments that are conditions."""
    yield from of_conditions(spot, keywords)
    if not spot.sure:
        return
    yield Use(spot.document, at_args, {k: v for k, v in args.items() if k not in raw})
    for name in raw:
        yield from _first(spot, args, name, (*at_args, name))
    for name in ("loop", "environment"):
        yield Use(spot.document, (*spot.trail, name), keywords.get(name))
    for name in _AFTERWARDS:
        yield from _first(spot, keywords, name, (*spot.trail, name))


def _first(spot: Spot, values: Mapping[str, Any], name: str, trail: Trail) -> Iterator[Use]:
    value = values.get(name)
    if isinstance(value, list):
        value, trail = (value[0] if value else None), (*trail, 0)
    if isinstance(value, str):
        yield Use(spot.document, trail, value, expression=True)


def definitions(document: Document, trail: Trail, values: Any) -> Iterator[Definition]:
    """Return the variables of a mapping."""
    if isinstance(values, Mapping):
        for name, value in values.items():
            yield Definition(str(name), document, (*trail, name), value)
