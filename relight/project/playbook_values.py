"""What a keyword may be given, checked as it is read: types, and the syntax of every template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from relight.core.language.keywords import LOOP_CONTROL, Kind
from relight.core.language.templating import TemplateFault, check_syntax, is_template
from relight.errors import Fault
from relight.project.marks import Key, Placer, Trail
from relight.project.wording import did_you_mean, got

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FLAGS = frozenset({"yes", "no", "true", "false", "on", "off"})
_PERCENT = re.compile(r"\d+(\.\d+)?%?")


class Found:
    """The faults of one file, as they are found; each trail is the way to a value."""

    def __init__(self, place: Placer) -> None:
        self.place = place
        self.faults: list[Fault] = []

    def add(self, trail: Trail, what: str, right: str = "", *, key: bool = False) -> None:
        """Note a fault at a value, or at its key."""
        self.faults.append(self.place.fault(trail, what, right, key=key))


def check(found: Found, kind: Kind, value: Any, trail: Trail) -> None:
    """Note what is wrong with a keyword's value."""
    name = trail[-1]
    if kind == "condition":
        condition(found, value, trail)
        return
    if kind != "tasks":
        templates(found, value, trail)
    if is_template(value) and kind not in ("name", "mapping", "loop_control"):
        return
    wrong = _wrong(kind, value)
    if wrong:
        found.add(trail, f"{name} wants {wrong}, got {got(value, name)}")
    elif name == "vars" and isinstance(value, Mapping):
        variables(found, value, trail)
    elif kind == "loop_control" and isinstance(value, Mapping):
        _loop_control(found, value, trail)
    elif kind == "name" and not _NAME.fullmatch(str(value)):
        found.add(trail, f"{value!r} is no name of a variable", "letters, digits and _ only")


def variables(found: Found, values: Mapping[Key, Any], trail: Trail) -> None:
    """Note every name that no template could read."""
    for key in values:
        if not _NAME.fullmatch(str(key)):
            what = f"{str(key)[:60]!r} is no name of a variable"
            right = "letters, digits and _, not beginning with a digit"
            found.add((*trail, key), what, right, key=True)


def _loop_control(found: Found, value: Mapping[Key, Any], trail: Trail) -> None:
    for key, item in value.items():
        inner = LOOP_CONTROL.get(str(key))
        if inner is None:
            advice = did_you_mean(str(key), LOOP_CONTROL, "one of")
            found.add((*trail, key), f"unknown key {key!r} in loop_control", advice, key=True)
        else:
            check(found, inner, item, (*trail, key))


def _wrong(kind: Kind, value: Any) -> str:
    scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
    fits = {
        "text": value is None or scalar,
        "name": isinstance(value, str),
        "flag": isinstance(value, bool) or str(value).lower() in _FLAGS,
        "number": _is_number(value),
        "texts": scalar or (isinstance(value, list) and all(_is_scalar(i) for i in value)),
        "mapping": value is None or isinstance(value, Mapping),
        "loop_control": isinstance(value, Mapping),
        "loop": isinstance(value, list) or value is None,
        "environment": isinstance(value, Mapping | list) or value is None,
        "tasks": isinstance(value, list) or value is None,
        "serial": all(_is_batch(item) for item in (value if isinstance(value, list) else [value])),
    }
    words = {
        "text": "text", "name": "the name of a variable", "flag": "true or false",
        "number": "a number", "texts": "text or a list of texts", "mapping": "a mapping",
        "loop_control": "a mapping", "loop": "a list, or a template that comes to one",
        "environment": "a mapping", "tasks": "a list of tasks",
        "serial": "a number, a percentage, or a list of them",
    }  # fmt: skip
    return "" if fits.get(kind, True) else words[kind]


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"-?\d+(\.\d+)?", value) is not None
    return _is_scalar(value)


def _is_batch(value: Any) -> bool:
    return _is_scalar(value) and (is_template(value) or _PERCENT.fullmatch(str(value)) is not None)


def templates(found: Found, value: Any, trail: Trail) -> None:
    """Note every string in a value that is no valid template."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            templates(found, item, (*trail, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            templates(found, item, (*trail, index))
    elif is_template(value):
        _syntax(found, value, trail, expression=False)


def condition(found: Found, value: Any, trail: Trail) -> None:
    """Note what is wrong with a condition: a bare expression, true or false, or a list."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            condition(found, item, (*trail, index))
    elif is_template(value):
        _syntax(found, value, trail, expression=False)
    elif isinstance(value, str):
        _syntax(found, value, trail, expression=True)
    elif isinstance(value, Mapping):
        name = next((str(key) for key in reversed(trail) if isinstance(key, str)), "condition")
        found.add(trail, f"{name} wants an expression, got a mapping", "put it in quotes")


def _syntax(found: Found, text: str, trail: tuple[Key, ...], *, expression: bool) -> None:
    try:
        check_syntax(text, expression=expression)
    except TemplateFault as fault:
        found.add(trail, *_words(fault.what))


def _words(what: str) -> tuple[str, str]:
    """Return Jinja's complaint in plain words, and what was probably meant."""
    unknown = re.match(r"No (filter|test) named '([^']*)'", what)
    if unknown is None:
        return f"template: {what}", ""
    from relight.core.language.templating import value_environment  # noqa: PLC0415  jinja: only when needed

    environment = value_environment()
    known = environment.filters if unknown[1] == "filter" else environment.tests
    return f"unknown {unknown[1]} {unknown[2]!r}", did_you_mean(unknown[2], known, "known")
