"""A host's variables rendered, and a template that does not render as a fault where it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from relight.core.language.lazy import OMIT
from relight.core.language.templating import Templar, TemplateFault, check_syntax, is_template
from relight.errors import Fault
from relight.project.marks import Document, Placer, Trail
from relight.project.variables import Variable, Variables
from relight.project.wording import closest

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Unrendered(str):
    """A template that did not render, left where it stands: its fault was said already."""

    __slots__ = ()


def unrendered(value: Any) -> bool:
    """Return whether a value is still a template whose fault was said."""
    return isinstance(value, Unrendered)


class Rendered:
    """One host's templates: what they come to, and where they fail.

    `excused` are names that a broken file may define: that they are undefined is no fault.
    """

    def __init__(self, variables: Variables, excused: Collection[str] = ()) -> None:
        self.variables = variables
        self._excused = excused
        self._raw: Mapping[str, Any] = {name: item.value for name, item in variables.items()}
        self._templar = Templar(self._raw)

    def value(self, value: Any, place: Placer) -> tuple[Any, tuple[Fault, ...]]:
        """Return a value that stands at `place`, rendered, and each template that fails in it."""
        faults: list[Fault] = []
        return self._walk(value, place, (), faults), tuple(faults)

    def undefined(self, name: str) -> Iterator[tuple[str, Fault]]:
        """Return (name, fault) of what a variable's own templates use and this host lacks."""
        variable = self.variables[name]
        for trail, text in strings(variable.value, ()):
            try:
                self._templar.render(text)
            except TemplateFault as fault:
                own = fault.undefined and fault.name in _WORD.findall(text)
                if own and self._says(fault):
                    yield fault.name, self._fault(fault, text, variable.place, trail)

    def _walk(self, value: Any, place: Placer, trail: Trail, faults: list[Fault]) -> Any:
        if isinstance(value, Mapping):
            inside = {k: self._walk(v, place, (*trail, k), faults) for k, v in value.items()}
            return {key: item for key, item in inside.items() if item is not OMIT}
        if isinstance(value, list | tuple):
            items = [self._walk(v, place, (*trail, i), faults) for i, v in enumerate(value)]
            return [item for item in items if item is not OMIT]
        try:
            return self._templar.render(value)
        except TemplateFault as fault:
            if self._says(fault):
                faults.append(self._fault(fault, value, place, trail))
            return Unrendered(value)

    def _says(self, fault: TemplateFault) -> bool:
        return not (fault.undefined and fault.name in self._excused)

    def _fault(self, fault: TemplateFault, text: str, place: Placer, trail: Trail) -> Fault:
        """Return the fault where its cause stands: maybe in a variable that was looked up."""
        right = self._right(fault)
        cause = self._cause(text, fault.name, set()) if fault.undefined else None
        if cause is not None:
            variable, inside = cause
            return variable.fault(f"{fault.name!r} is undefined", right, inside)
        return place.fault(trail, fault.what, right)

    def _cause(self, text: str, name: str, seen: set[str]) -> tuple[Variable, Trail] | None:
        """Return the variable, used by a template, in which an unknown name is written."""
        words = set(_WORD.findall(text))
        if name in words:
            return None
        for used in sorted(words & self.variables.keys() - seen):
            seen.add(used)
            variable = self.variables[used]
            for inside, deeper in strings(variable.value, ()):
                if self._lacks(deeper, name):
                    return self._cause(deeper, name, seen) or (variable, inside)
        return None

    def _lacks(self, text: str, name: str) -> bool:
        try:
            self._templar.render(text)
        except TemplateFault as fault:
            return fault.undefined and fault.name == name
        return False

    def _right(self, fault: TemplateFault) -> str:
        if not fault.undefined:
            return ""
        meant = closest(fault.name, self._raw)
        if meant is not None:
            return f"did you mean {meant}?"
        return f"define {fault.name} in group_vars or host_vars, or give it a default"


def strings(value: Any, trail: Trail) -> Iterator[tuple[Trail, str]]:
    """Return every template inside a value, and the way to it."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings(item, (*trail, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, (*trail, index))
    elif is_template(value):
        yield trail, value


def syntax_faults(document: Document) -> Iterator[Fault]:
    """Return a fault for each string of a file that is no valid template, used or not."""
    for trail, text in strings(document.data, ()):
        try:
            check_syntax(text)
        except TemplateFault as fault:
            what = f"template syntax: {fault.what}"
            yield document.fault(trail, what, "write !unsafe before a text that is no template")
