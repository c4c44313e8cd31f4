"""A module's arguments as a task writes them: a mapping, `key=value` words, or a bare command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from relight.core.language.free_form import command_and_options, key_values
from relight.core.language.playbook import Catalog, ModuleSpec
from relight.core.language.templating import is_template
from relight.errors import Fault
from relight.project import validation
from relight.project.marks import Document, Key, Trail
from relight.project.playbook_values import Found, condition, templates


@dataclass(frozen=True)
class Spot:
    """Where a module's arguments stand, and where what is wrong with them goes."""

    document: Document
    found: Found
    trail: Trail

    def add(self, what: str, right: str = "") -> None:
        """Note a fault at the module."""
        self.found.add(self.trail, what, right)

    def fault(
        self, trail: Iterable[Key], what: str, right: str = "", *, key: bool = False
    ) -> Fault:
        """Return a fault at an argument; what stands in one string has the string's place."""
        return self.document.fault((*self.trail, *trail), what, right, key=key)


def read_arguments(
    modules: Catalog | None, module: str, written: Any, extra: Any, spot: Spot
) -> Mapping[str, Any]:
    """Return the arguments as a mapping; `extra` is the keyword `args`."""
    spec = None if modules is None else modules.spec(module)
    args: dict[str, Any] = _mapping(extra) if isinstance(extra, Mapping) else {}
    if isinstance(written, Mapping):
        args |= _mapping(written)
    elif isinstance(written, list):
        if spec is not None and spec.free_form:
            args[spec.free_form] = written
        else:
            spot.add(f"{module} wants a mapping of arguments, got a list")
            return args
    elif written is not None:
        args |= _free_form(spec, str(written), spot)
    if spec is not None:
        _check(spec, args, spot)
    return args


def _free_form(spec: ModuleSpec | None, text: str, spot: Spot) -> dict[str, Any]:
    if spec is None:
        return {"_raw": text}
    try:
        if spec.free_form is None:
            return dict(key_values(text)) if text.strip() else {}
        rest, options = command_and_options(text, spec.args.model_fields)
    except ValueError as error:
        spot.add(f"{spec.name}: {error}", "write the arguments as a mapping")
        return {}
    return {**options, **({spec.free_form: rest} if rest else {})}


def _check(spec: ModuleSpec, args: Mapping[str, Any], spot: Spot) -> None:
    for key, value in args.items():
        inside = (*spot.trail, key)
        where = inside if inside in spot.document.marks else spot.trail
        if key in spec.raw:
            condition(spot.found, value, where)
        else:
            templates(spot.found, value, where)
    known = {key: value for key, value in args.items() if not is_template(key)}
    _, faults = validation.read(spec.args, known, spot, is_template)
    spot.found.faults += faults


def _mapping(value: Mapping[Key, Any]) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()}
