"""What a host rejected: learnt from a deploy's attempts, recalled before the next one.

Kept per (host, engine build, model), one JSON object a line; another build has another file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal

from pydantic import ValidationError

from relight.core.attempt import Attempt, Failed, Ready, Recipe, Refused, flags_of
from relight.core.blame import blamed_layer
from relight.core.engine import EngineSpec
from relight.core.failure import Diagnosis, FailureClass
from relight.core.flags import Flags, FlagValue
from relight.core.gave_up import answered, changes, reason_of, sets
from relight.core.model import Frozen
from relight.core.preset import Preset
from relight.core.release import digest

_TEXT = 300
Canonical = Callable[[str], str]
Proof = Literal["blamed", "ready without it", "refused by the build"]


class Rejection(Frozen):
    """One thing that a build did not take with a model: a line of a host's memory.

    `flags` are what was rejected: all flags of a layer, or one flag (empty: it was missing).
    `instead` is what served in place of a flag or variable; None when it was left out. `at` is UTC.
    """

    at: str
    model: str
    what: Literal["layer", "flag", "variable"]
    name: str
    flags: Flags = {}
    instead: FlagValue | None = None
    failure: FailureClass | None = None
    reason: str = ""
    evidence: str = ""
    proof: Proof = "ready without it"
    release: str = ""

    def same_as(self, other: Rejection) -> bool:
        """Return whether both say the same, whenever it was."""
        mine, its = ((one.model, one.what, one.name, one.flags) for one in (self, other))
        return mine == its and self.instead == other.instead


def build_of(engine: str, version: str, spec: EngineSpec) -> str:
    """Return the name of an engine build on a host: engine, version, and where it is installed."""
    where = digest(spec.python, spec.command, spec.archive)[:8]
    plain = "".join(char if char.isalnum() or char in "._-" else "-" for char in version)
    return f"{engine}-{plain or 'unknown'}-{where}"


def learn(
    preset: Preset,
    attempts: Sequence[Attempt],
    *,
    at: str,
    release: str = "",
    canonical: Canonical = str,
) -> tuple[Rejection, ...]:
    """Return what a deploy proved.

    A layer is rejected when the engine named it, or when the server became ready only without it;
    a value of a flag, when the server became ready with another one. What was known before the
    first launch is not learnt again.
    """
    found: list[Rejection] = []
    for one in attempts:
        if not isinstance(one.verdict, Failed):
            continue
        layer = blamed_layer(preset, one.recipe, one.verdict.diagnosis, canonical)
        if layer is not None:
            found.append(_layer(preset, layer, one.verdict.diagnosis, "blamed", at, release))
    launched = [one for one in attempts if one.launched]
    if launched and isinstance(launched[-1].verdict, Ready):
        found += _ready_without(preset, launched, at, release)
    unique: list[Rejection] = []
    for rejection in found:
        if not any(rejection.same_as(other) for other in unique):
            unique.append(rejection)
    return tuple(unique)


def refused_by_build(
    preset: Preset, refused: dict[str, str], *, at: str, release: str = ""
) -> tuple[Rejection, ...]:
    """Return what the engine's own checks refused: kept for the history, asked again next time."""
    return tuple(
        _layer(preset, name, None, "refused by the build", at, release, reason)
        for name, reason in refused.items()
        if name in preset.layers
    )


def recall(
    rejections: Iterable[Rejection], preset: Preset, canonical: Canonical = str
) -> tuple[Refused, ...]:
    """Return what of a memory bears on a preset, newest last, each with its reason and date.

    A layer is known by its flags, not by its name. A flag's value is replaced only where the
    preset still says so: a fallback of that class touches the flag, or the flag was only added.
    """
    found: dict[str, Refused] = {}
    for one in rejections:
        if one.model != preset.model or one.proof == "refused by the build":
            continue
        reason = f"{one.reason} (known since {one.at[:10]}; --retry-layers tries it again)"
        if one.what == "layer":
            for name, layer in preset.layers.items():
                if layer.enabled and layer.flags == one.flags:
                    found[f"layer {name}"] = Refused(layers=(name,), reason=reason)
        elif one.what == "variable":
            if isinstance(one.instead, str) and one.name not in preset.env:
                found[f"env {one.name}"] = Refused(env={one.name: one.instead}, reason=reason)
        elif _still_meant(one, preset, canonical):
            found[f"flag {one.name}"] = Refused(changes={one.name: one.instead}, reason=reason)
    return tuple(found.values())


def read_memory(text: str) -> tuple[Rejection, ...]:
    """Return the lines of a memory that can be read; torn or foreign ones are passed over."""
    found: list[Rejection] = []
    for line in text.splitlines():
        try:
            one = Rejection.model_validate_json(line)
        except ValidationError:
            continue
        update = {"reason": _plain(one.reason), "evidence": _plain(one.evidence)}
        found.append(one.model_copy(update=update))
    return tuple(found)


def concerns(rejection: Rejection, flag: str, canonical: Canonical = str) -> bool:
    """Return whether a rejection is about a flag, by itself or as part of a layer."""
    named = {canonical(name) for name in (*rejection.flags, rejection.name)}
    return canonical(flag) in named


def _ready_without(
    preset: Preset, launched: Sequence[Attempt], at: str, release: str
) -> list[Rejection]:
    first, ready = launched[0].recipe, launched[-1].recipe
    proof: Proof = "ready without it"
    found = []
    for name in first.layers:
        if name not in ready.layers:
            had = [one for one in launched[:-1] if name in one.recipe.layers][-1]
            cause = had.verdict.diagnosis if isinstance(had.verdict, Failed) else None
            found.append(_layer(preset, name, cause, proof, at, release))
    asked = flags_of(preset, Recipe(layers=ready.layers))
    for name, value in ready.changes.items():
        if (name, value) in first.changes.items():
            continue
        cause = answered(launched, partial(changes, name, value))
        found.append(
            Rejection(
                at=at,
                model=preset.model,
                what="flag",
                name=name,
                flags={name: asked[name]} if name in asked else {},
                instead=value,
                release=release,
                **_told(cause),
            )
        )
    for name, setting in ready.env.items():
        if name not in first.env:
            cause = answered(launched, partial(sets, name))
            found.append(
                Rejection(
                    at=at,
                    model=preset.model,
                    what="variable",
                    name=name,
                    instead=setting,
                    release=release,
                    **_told(cause),
                )
            )
    return found


def _still_meant(one: Rejection, preset: Preset, canonical: Canonical) -> bool:
    value = one.flags.get(one.name)
    if preset.flags.get(one.name) != value:
        return False
    if value is None:
        return one.instead is not None
    name = canonical(one.name)
    return any(
        fallback.on is one.failure
        and name in {canonical(f) for f in (*fallback.drop, *fallback.set, *fallback.adjust)}
        for fallback in preset.fallbacks
    )


def _layer(
    preset: Preset,
    name: str,
    cause: Diagnosis | None,
    proof: Proof,
    at: str,
    release: str,
    reason: str = "",
) -> Rejection:
    told = _told(cause) | ({"reason": reason[:_TEXT]} if reason else {})
    return Rejection(
        at=at,
        model=preset.model,
        what="layer",
        name=name,
        flags=preset.layers[name].flags,
        proof=proof,
        release=release,
        **told,
    )


def _told(cause: Diagnosis | None) -> dict[str, object]:
    evidence = cause.evidence.text if cause and cause.evidence else ""
    return {
        "failure": cause.failure if cause else None,
        "reason": reason_of(cause)[:_TEXT],
        "evidence": evidence[:_TEXT],
    }


def _plain(text: str) -> str:
    return "".join(char for char in text if char.isprintable())
