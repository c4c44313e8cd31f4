"""`relight_*` variables of a host into a HostSpec."""

from __future__ import annotations

import re
from typing import Any

from relight.core.language.templating import is_template
from relight.core.service import HostSpec, overlaps
from relight.errors import Fault
from relight.project.marks import Key
from relight.project.rendering import Rendered, unrendered
from relight.project.validation import read
from relight.project.variables import Variable
from relight.project.wording import closest, did_you_mean, got, is_secret

PREFIX = "relight_"
_FIELDS = ("engine", "launcher", "gpus", "services", "home")
_SHOWN = {field: f"{PREFIX}{field}" for field in _FIELDS}
_HOME = re.compile(r"(?:~/|/)[^\x00-\x1f]*")


class SpecPlace:
    """Faults of a HostSpec, at the variables that said its fields."""

    def __init__(self, rendered: Rendered, host: Variable) -> None:
        self._variables, self._host = rendered.variables, host

    def fault(self, trail: Any, what: str, right: str = "", *, key: bool = False) -> Fault:
        """Return a fault at `relight_FIELD`, or at the host where nobody said the field."""
        field, *inside = tuple[Key, ...](trail) or ("",)
        variable = self._variables.get(f"{PREFIX}{field}")
        if variable is None:
            return self._host.place.fault((), what, right, key=True)
        return variable.place.fault(inside, what, right, key=key)


def spec(
    host: Variable, rendered: Rendered, launchers: tuple[str, ...]
) -> tuple[HostSpec | None, tuple[Fault, ...]]:
    """Return what relight reads of a host, or all that is wrong with it.

    `host` is where the host's name stands; `launchers` are the names that exist.
    """
    place = SpecPlace(rendered, host)
    faults: list[Fault] = []
    values: dict[str, Any] = {"name": host.value}
    for name, variable in rendered.variables.items():
        if not name.startswith(PREFIX):
            continue
        field = name.removeprefix(PREFIX)
        if field not in _FIELDS:
            meant = closest(field, _FIELDS)
            known = f"it reads {', '.join(_SHOWN.values())}"
            right = f"did you mean {PREFIX}{meant}?" if meant else known
            what = f"{name} is no variable that relight reads"
            faults.append(variable.place.fault((), what, right, key=True))
            continue
        value, wrong = rendered.value(variable.value, variable.place)
        faults += wrong
        faults += _oddities(variable)
        values[field] = value
    if "engine" not in values:
        values["engine"] = {"python": "python3"}
        if not any(closest(field, ["engine"]) for field in _unknown(rendered)):
            what = f"relight_engine is missing on {host.value}"
            right = "say how its engine is run: relight_engine: {python: /path/to/python}"
            faults.append(place.fault((), what, right))
    result, wrong = read(HostSpec, values, place, unrendered, _SHOWN)
    faults += wrong
    if result is not None:
        faults += _checks(result, place, launchers)
    return (None if faults else result), tuple(faults)


def concerns_relight(rendered: Rendered) -> bool:
    """Return whether a host has any variable of relight's."""
    return any(name.startswith(PREFIX) for name in rendered.variables)


def named_presets(rendered: Rendered) -> tuple[tuple[str, str], ...]:
    """Return (service, preset) of a host as far as they can be read, whatever else is wrong."""
    variable = rendered.variables.get(_SHOWN["services"])
    value = rendered.value(variable.value, variable.place)[0] if variable is not None else None
    if not isinstance(value, dict):
        return ()
    found: list[tuple[str, str]] = []
    for service, said in value.items():
        name = said.get("preset") if isinstance(said, dict) else None
        if isinstance(name, str) and not unrendered(name):
            found.append((str(service), name))
    return tuple(found)


def _unknown(rendered: Rendered) -> list[str]:
    fields = [n.removeprefix(PREFIX) for n in rendered.variables if n.startswith(PREFIX)]
    return [field for field in fields if field not in _FIELDS]


def _oddities(variable: Variable) -> list[Fault]:
    depth = len(variable.trail)
    return [
        variable.fault(oddity, "write it in the decimal system, or put it in quotes", trail[depth:])
        for trail, oddity in variable.document.oddities.items()
        if trail[:depth] == variable.trail
    ]


def _checks(found: HostSpec, place: SpecPlace, launchers: tuple[str, ...]) -> list[Fault]:
    faults: list[Fault] = []
    if found.launcher not in launchers and not is_template(found.launcher):
        what = f"there is no launcher {got(found.launcher)}"
        right = did_you_mean(found.launcher, launchers, "launchers")
        faults.append(place.fault(("launcher",), what, right))
    if not _HOME.fullmatch(found.home) and not is_template(found.home):
        what = f"relight_home cannot be {got(found.home)}"
        faults.append(place.fault(("home",), what, "begin it with / or ~/"))
    for name in found.engine.env:
        if is_secret(name):
            what = f"{name} looks like a secret, and its value stands in the file"
            right = "give it to the server by reference: env of the preset"
            faults.append(place.fault(("engine", "env", name), what, right))
    for first, second, shared in overlaps(found.services):
        what = f"the service {second} wants {shared}, which {first} has already"
        faults.append(place.fault(("services", second), what, "give each its own"))
    declared = sum(gpu.count for gpu in found.gpus)
    for name, service in found.services.items():
        for index, gpu in enumerate(service.gpus):
            where = ("services", name, "gpus", index)
            if found.gpus and gpu >= declared:
                what = f"there is no GPU {gpu}: relight_gpus declares {declared}, counted from 0"
                faults.append(place.fault(where, what))
            if gpu in service.gpus[:index]:
                faults.append(place.fault(where, f"GPU {gpu} stands here twice"))
    return faults
