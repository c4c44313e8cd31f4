"""Which scenarios play in this start: the environment's words, held against the flags given.

oom_capture                                   always
oom_capture:when=enable-single-batch-overlap  only with that flag
oom_capture:when=mem-fraction-static>0.85     only above that value
crash_after_ready:after=2:first=1             2 s after the ready line, at the first start only
oom_pool:when=mem-fraction-static<0.8,oom_capture:when=mem-fraction-static>0.9
"""

from __future__ import annotations

import fcntl
import operator
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from relight.standin.scenarios import SCENARIOS
from relight.standin.scenarios.kinds import Scenario

_CONDITION = re.compile(r"(?P<flag>[a-z0-9-]+)(?:(?P<op>>=|<=|==|!=|>|<|=)(?P<value>.+))?")
_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}


class UnknownScenario(ValueError):
    """The environment asks for what there is not; the message says what there is."""


@dataclass(frozen=True)
class Asked:
    """One scenario asked for, and the conditions under which it plays."""

    scenario: Scenario
    when: tuple[str, ...]
    unless: tuple[str, ...]
    first: int | None


def _number(option: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise UnknownScenario(f"scenario option {option}={value}: a number is wanted") from None


def _read_one(text: str) -> Asked:
    name, *options = text.strip().split(":")
    scenario = SCENARIOS.get(name)
    if scenario is None:
        known = ", ".join(sorted(SCENARIOS))
        raise UnknownScenario(f"no scenario is called {name!r}; there are: {known}")
    when: list[str] = []
    unless: list[str] = []
    first: int | None = None
    for option in options:
        key, _, value = option.partition("=")
        if key in ("when", "unless") and _CONDITION.fullmatch(value):
            (when if key == "when" else unless).append(value)
        elif key == "first":
            first = int(_number(key, value))
        elif key == "after":
            scenario = replace(scenario, after=_number(key, value))
        else:
            raise UnknownScenario(
                f"scenario option {option!r}: there are when=FLAG, when=FLAG>VALUE, "
                "unless=FLAG, first=N and after=N"
            )
    return Asked(scenario, tuple(when), tuple(unless), first)


def read(spec: str) -> tuple[Asked, ...]:
    """Read `RELIGHT_STANDIN_SCENARIO`; raises UnknownScenario."""
    return tuple(_read_one(part) for part in spec.split(",") if part.strip())


def holds(condition: str, values: Mapping[str, Any], given: frozenset[str]) -> bool:
    """Is `FLAG` given, or `FLAG<op>VALUE` true of its value?"""
    match = _CONDITION.fullmatch(condition)
    if match is None:
        return False
    dest, op, wanted = match["flag"].replace("-", "_"), match["op"], match["value"]
    if op is None:
        return dest in given and values.get(dest) is not False
    value = values.get(dest)
    if op in ("=", "=="):
        return str(value) == wanted
    if op == "!=":
        return str(value) != wanted
    try:
        return value is not None and _ORDER[op](float(value), float(wanted))
    except (TypeError, ValueError):
        return False


def count_start(state: str) -> int:
    """Count this start in the file `state`; 1 for the first."""
    descriptor = os.open(state, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        number = int(os.read(descriptor, 32) or b"0") + 1
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, str(number).encode())
    finally:
        os.close(descriptor)
    return number


def name_flags(asked: tuple[Asked, ...], names: Mapping[str, str]) -> tuple[Asked, ...]:
    """Conditions with each flag under its attribute's own name; `names` maps every spelling.

    Raises UnknownScenario for a flag that no version has.
    """

    def named(condition: str) -> str:
        match = _CONDITION.fullmatch(condition)
        flag = match["flag"] if match else condition
        if flag not in names:
            raise UnknownScenario(f"scenario condition {condition!r}: no flag is called --{flag}")
        return names[flag] + condition[len(flag) :]

    return tuple(
        replace(one, when=tuple(map(named, one.when)), unless=tuple(map(named, one.unless)))
        for one in asked
    )


def playing(
    asked: tuple[Asked, ...],
    values: Mapping[str, Any],
    given: frozenset[str],
    start: int,
) -> tuple[Scenario, ...]:
    """The scenarios that play in start number `start`, with the flag that each is bound to."""

    def plays(one: Asked) -> bool:
        scenario = one.scenario
        wanted = (*one.when, *scenario.needs)
        barred = (*one.unless, *scenario.cured_by)
        return (
            (one.first is None or start <= one.first)
            and all(holds(condition, values, given) for condition in wanted)
            and not any(holds(condition, values, given) for condition in barred)
        )

    return tuple(
        replace(
            one.scenario,
            error=one.scenario.error.replace("{flag}", _bound(one.when)),
        )
        for one in asked
        if plays(one)
    )


def _bound(when: tuple[str, ...]) -> str:
    match = _CONDITION.match(when[0]) if when else None
    return f"--{match['flag']}" if match else "--no-such-flag"
