"""Data into a model, and what pydantic says against it into faults at the right places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from relight.errors import Fault
from relight.project.marks import Placer, Trail
from relight.project.shape import keys_at, stray_booleans
from relight.project.wording import closest, did_you_mean, got, short, wanted

_MANY = 6
_LONGEST = 200
Model = TypeVar("Model", bound=BaseModel)


def read(
    model: type[Model],
    data: Any,
    place: Placer,
    excused: Callable[[Any], bool] = lambda _: False,
    names: Mapping[str, str] = {},
) -> tuple[Model | None, tuple[Fault, ...]]:
    """Return the model and no fault, or None and every fault.

    `excused` names values that are not judged here: templates that are rendered later. Where
    only such values were in the way, the result is (None, ()). `names` are what the fields at the
    top are called in the file.
    """
    strays = tuple(stray_booleans(model, data))
    try:
        result = model.model_validate(data)
    except ValidationError as error:
        problems = error.errors(include_url=False)
    else:
        if not strays:
            return result, ()
        problems = []
    found = _Findings(model, data, place, excused, names)
    for problem in problems:
        found.add(problem)
    for trail in strays:
        found.stray(trail)
    return None, found.faults()


@dataclass
class _Spot:
    """What is said against one value: what it should be, and everything else."""

    wants: list[str] = field(default_factory=list)
    says: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)


@dataclass
class _Findings:
    model: Any
    data: Any
    place: Placer
    excused: Callable[[Any], bool]
    names: Mapping[str, str]
    spots: dict[Trail, _Spot] = field(default_factory=dict)
    others: list[Fault] = field(default_factory=list)
    unknown: list[Trail] = field(default_factory=list)
    lacking: list[Trail] = field(default_factory=list)
    unions: set[Trail] = field(default_factory=set)

    def add(self, problem: Mapping[str, Any]) -> None:
        trail, union_at, key = self._follow(problem["loc"], missing=problem["type"] == "missing")
        if union_at is not None:
            self.unions.add(union_at)
        if problem["type"] == "missing":
            self.lacking.append((*trail, problem["loc"][-1]))
            return
        if problem["type"] == "extra_forbidden":
            self.unknown.append(trail)
            return
        if self.excused(_value(self.data, trail)):
            return
        if key:
            says = _said(problem)
            if problem["type"] == "string_pattern_mismatch":
                says = f"{str(trail[-1])!r} is no name here: lower-case letters, digits, - and _"
            self.others.append(self.place.fault(trail, says, key=True))
            return
        spot = self.spots.setdefault(trail, _Spot())
        want = wanted(problem)
        if want is None:
            spot.says.append(_said(problem))
        elif want not in spot.wants:
            spot.wants.append(want)
        if problem["type"] in ("literal_error", "enum"):
            spot.options += _options(problem)

    def stray(self, trail: Trail) -> None:
        """Say that a boolean stands where a number belongs."""
        if trail not in self.spots:
            self.spots[trail] = _Spot(wants=["a number"])

    def faults(self) -> tuple[Fault, ...]:
        """Return one fault for each value; where one inside of it says more, only that one."""
        found = [*self.others, *(self._unknown(trail) for trail in self.unknown)]
        misspelt = {(t[:-1], closest(str(t[-1]), self._keys(t))) for t in self.unknown}
        found += filter(None, (self._missing(trail, misspelt) for trail in self.lacking))
        for trail, spot in self.spots.items():
            value = _value(self.data, trail)
            deeper = any(
                other != trail and other[: len(trail)] == trail
                for other in (*self.spots, *self.unknown, *self.lacking)
            )
            if trail in self.unions and deeper and isinstance(value, Mapping | list):
                continue
            found.append(self._fault(trail, spot, value))
        return tuple(found)

    def _fault(self, trail: Trail, spot: _Spot, value: Any) -> Fault:
        name = self._named(trail)
        if spot.says and (not spot.wants or isinstance(value, Mapping)):
            return self.place.fault(trail, f"{name}: {'; '.join(dict.fromkeys(spot.says))}")
        if len(spot.options) > _MANY and isinstance(value, str):
            advice = did_you_mean(value, spot.options, "one of")
            return self.place.fault(trail, f"{name} knows no {got(value, name)}", advice)
        what = f"{name} wants {_either(spot.wants)}, got {got(value, name)}"
        if value is None:
            return self.place.fault(trail, what, "give it a value, or remove the key")
        if spot.options and isinstance(value, str):
            return self.place.fault(trail, what, did_you_mean(value, spot.options, "one of"))
        if "text" in spot.wants and isinstance(value, int | float):
            return self.place.fault(trail, what, "put it in quotes")
        return self.place.fault(trail, what)

    def _missing(self, trail: Trail, misspelt: set[tuple[Trail, str | None]]) -> Fault | None:
        around, name = trail[:-1], str(trail[-1])
        if (around, name) in misspelt:
            return None
        where = f" in {self._named(around)}" if around else ""
        what = f"{name!r} is missing{where}"
        return self.place.fault(around, what, f"add {name}: ...", key=True)

    def _unknown(self, trail: Trail) -> Fault:
        where = f" in {self._named(trail[:-1])}" if trail[:-1] else ""
        right = did_you_mean(str(trail[-1]), self._keys(trail), "known keys")
        what = f"unknown key {short(repr(str(trail[-1])))}{where}"
        return self.place.fault(trail, what, right, key=True)

    def _named(self, trail: Trail) -> str:
        if not trail:
            return "the file"
        if len(trail) == 1:
            return self.names.get(str(trail[0]), str(trail[0]))
        if isinstance(trail[-1], int):
            return f"item {trail[-1] + 1} of {self._named(trail[:-1])}"
        return trail[-1]

    def _keys(self, trail: Trail) -> tuple[str, ...]:
        return keys_at(self.model, trail[:-1])

    def _follow(
        self, location: Iterable[str | int], *, missing: bool
    ) -> tuple[Trail, Trail | None, bool]:
        """Return the trail that a location of pydantic means, the union on it, and if a key."""
        trail: Trail = ()
        union_at: Trail | None = None
        parts = tuple(location)
        for index, part in enumerate(parts):
            value = _value(self.data, trail)
            if part == "[key]":
                return trail, union_at, True
            if _holds(value, part):
                trail = (*trail, part)
            elif not (missing and index == len(parts) - 1):
                union_at = trail
        return trail, union_at, False


def _value(data: Any, trail: Trail) -> Any:
    for key in trail:
        data = data[key]
    return data


def _holds(value: Any, part: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value


def _said(problem: Mapping[str, Any]) -> str:
    error = problem.get("ctx", {}).get("error")
    said = str(error) if error is not None else str(problem["msg"]).lower()
    return said if len(said) <= _LONGEST else f"{said[:60]}...{said[-_LONGEST + 60 :]}"


def _options(problem: Mapping[str, Any]) -> list[str]:
    words = str(problem.get("ctx", {}).get("expected", ""))
    return [part.strip("' ") for part in words.replace(" or ", ", ").split(",")]


def _either(wants: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(wants[:-1]), wants[-1])))
