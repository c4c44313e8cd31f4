"""What holds between the parts of a preset, its engine and a service, beyond each part's type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from relight.core.engine import Engine
from relight.core.preset import Preset
from relight.core.service import Service
from relight.errors import Fault
from relight.project.marks import Document, Trail
from relight.project.wording import closest

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def checks(preset: Preset, engine: Engine, document: Document) -> Iterator[Fault]:
    """Return what an engine has against a preset: bound flags, protected flags, aliases twice."""
    yield from _bound(preset, engine, document)
    yield from _twice(preset, engine, document)
    yield from _protected(preset, engine, document)
    yield from _dropped(preset, engine, document)
    yield from _secret(preset, engine, document)


def gpu_fault(
    preset: Preset, engine: Engine, service: Service, document: Document, where: str
) -> Fault | None:
    """Return a fault when a preset spreads over another number of GPUs than its service has."""
    asked = engine.spread(preset.flags)
    if asked is None or not service.gpus or asked.gpus == len(service.gpus):
        return None
    trail: Trail = ("flags", asked.flags[0]) if asked.flags else ("flags",)
    because = (
        f" ({' x '.join(asked.flags)})" if asked.flags else f", as no {asked.by} says otherwise"
    )
    what = f"this preset runs on {asked.gpus} GPU(s){because}, but {where} has {len(service.gpus)}"
    return document.fault(trail, what, f"make {asked.by} and the service's gpus agree")


def environment_faults(data: Any, document: Document) -> Iterator[Fault]:
    """Return faults of `env` at each variable: no name of one, or a secret written out."""
    env = data.get("env") if isinstance(data, Mapping) else None
    for name, value in env.items() if isinstance(env, Mapping) else ():
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            what = f"{str(name)[:60]!r} is not the name of an environment variable"
            yield document.fault(("env", name), what, key=True)
        elif isinstance(value, str) and _SECRET.search(name):
            what = f"{name} looks like a secret, and its value stands in the file"
            right = f"write a reference, {name}: {{env: {name}}}, and never the value"
            yield document.fault(("env", name), what, right)


_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE", re.IGNORECASE)


def _written(preset: Preset) -> Iterator[tuple[Trail, str]]:
    """Return every flag that a preset gives a value, and where."""
    for flag in preset.flags:
        yield ("flags", flag), flag
    for name, layer in preset.layers.items():
        for flag in layer.flags:
            yield ("layers", name, "flags", flag), flag
    for index, fallback in enumerate(preset.fallbacks):
        for flag in fallback.set:
            yield ("fallbacks", index, "set", flag), flag
        for flag in fallback.adjust:
            yield ("fallbacks", index, "adjust", flag), flag


def _bound(preset: Preset, engine: Engine, document: Document) -> Iterator[Fault]:
    for trail, flag in _written(preset):
        key = engine.reserved.get(flag) or engine.reserved.get(engine.canonical(flag))
        if key is not None:
            what = f"the flag {flag} is set by relight itself"
            yield document.fault(trail, what, f"write it as the {key}", key=True)


def _twice(preset: Preset, engine: Engine, document: Document) -> Iterator[Fault]:
    mappings: list[tuple[Trail, Mapping[str, Any]]] = [(("flags",), preset.flags)]
    mappings += [(("layers", name, "flags"), one.flags) for name, one in preset.layers.items()]
    for trail, flags in mappings:
        first: dict[str, str] = {}
        for flag in flags:
            other = first.setdefault(engine.canonical(flag), flag)
            if other != flag:
                what = f"{flag} and {other} are one flag under two names"
                yield document.fault((*trail, flag), what, f"keep {other}", key=True)


def _protected(preset: Preset, engine: Engine, document: Document) -> Iterator[Fault]:
    why = "it changes results, the interface or security"
    for name, layer in preset.layers.items():
        for flag in layer.flags:
            if _holds(engine, flag) and flag not in engine.reserved:
                what = f"the layer {name} holds {flag}, which must not be dropped: {why}"
                where: Trail = ("layers", name, "flags", flag)
                yield document.fault(where, what, "move it under flags of the preset", key=True)
    for index, fallback in enumerate(preset.fallbacks):
        touched: list[tuple[Trail, str]] = [
            (("fallbacks", index, "drop", place), flag) for place, flag in enumerate(fallback.drop)
        ]
        touched += [(("fallbacks", index, "set", flag), flag) for flag in fallback.set]
        touched += [(("fallbacks", index, "adjust", flag), flag) for flag in fallback.adjust]
        for trail, flag in touched:
            if _holds(engine, flag) and flag not in engine.reserved:
                what = f"a fallback must not touch {flag}: {why}"
                key = isinstance(trail[-1], str)
                yield document.fault(trail, what, "change it by hand, in flags", key=key)


def _dropped(preset: Preset, engine: Engine, document: Document) -> Iterator[Fault]:
    names = {engine.canonical(flag) for _, flag in _written(preset)}
    for index, fallback in enumerate(preset.fallbacks):
        for place, flag in enumerate(fallback.drop):
            if engine.canonical(flag) not in names:
                meant = closest(flag, names)
                right = f"did you mean {meant}?" if meant else "name a flag of flags or layers"
                what = f"this fallback drops {flag}, which the preset has nowhere"
                yield document.fault(("fallbacks", index, "drop", place), what, right)
        for flag in fallback.adjust:
            if engine.canonical(flag) not in {engine.canonical(name) for name in preset.flags}:
                what = f"this fallback adjusts {flag}, which has no value in flags"
                where: Trail = ("fallbacks", index, "adjust", flag)
                yield document.fault(where, what, f"give it one: flags: {{{flag}: ...}}", key=True)


def _secret(preset: Preset, engine: Engine, document: Document) -> Iterator[Fault]:
    """Return faults of secret flags: a value written out, a flag set twice, a second file."""
    for trail, flag in _written(preset):
        if engine.canonical(flag) in engine.secret_flags:
            what = f"{flag} is a secret, and its value stands in the file"
            name = flag.upper().replace("-", "_")
            right = f"write a reference, secret_flags: {{{flag}: {{env: {name}}}}}, and no value"
            yield document.fault(trail, what, right)
    names = {engine.canonical(flag): flag for flag in preset.flags}
    for flag in preset.secret_flags:
        where: Trail = ("secret_flags", flag)
        other = names.get(engine.canonical(flag))
        if flag in engine.reserved or engine.canonical(flag) in engine.reserved:
            what = f"the flag {flag} is set by relight itself"
            yield document.fault(where, what, "leave it out", key=True)
        elif other is not None and engine.canonical(flag) not in engine.secret_flags:
            what = f"{flag} has a value in flags as well"
            yield document.fault(where, what, "keep one of both", key=True)
    taken = engine.secret_file.option.lstrip("-")
    if preset.secret_flags and taken in preset.flags:
        what = f"secret_flags need the flag {taken} for themselves: the engine reads one such file"
        yield document.fault(("flags", taken), what, "write that file's flags here", key=True)


def _holds(engine: Engine, flag: str) -> bool:
    return flag in engine.protected or engine.canonical(flag) in engine.protected
