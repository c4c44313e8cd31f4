"""What a launch goes without, compared with what was asked for, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from relight.core.attempt import Attempt, Failed, Recipe, Refused
from relight.core.failure import Diagnosis
from relight.core.flags import FlagValue
from relight.core.preset import Preset
from relight.core.release import Given


def gave_up(preset: Preset, recipe: Recipe, attempts: Sequence[Attempt]) -> tuple[Given, ...]:
    """Return every layer that a recipe leaves out and every change it makes, each with its reason.

    The reason is what preflight refused, else the failure that the change answered.
    """
    refused = [one.verdict for one in attempts if isinstance(one.verdict, Refused)]
    failed = [one for one in attempts if isinstance(one.verdict, Failed)]
    given = []
    for name, layer in preset.layers.items():
        if not layer.enabled or name in recipe.layers:
            continue
        told = next((one.reason for one in reversed(refused) if name in one.layers), None)
        cause = _diagnosis([one for one in failed if name in one.recipe.layers][-1:])
        given.append(_given(f"layer {name}", "", told, cause))
    for name, value in recipe.changes.items():
        told = next((one.reason for one in reversed(refused) if name in one.changes), None)
        cause = answered(attempts, partial(changes, name, value))
        what = f"--{name}" if value is None else f"--{name} {value}"
        given.append(_given(what, "dropped: " if value is None else "set: ", told, cause))
    for name, setting in recipe.env.items():
        told = next((one.reason for one in reversed(refused) if name in one.env), None)
        cause = answered(attempts, partial(sets, name))
        given.append(_given(f"{name}={setting}", "set: ", told, cause))
    return tuple(given)


def answered(attempts: Sequence[Attempt], has: Callable[[Recipe], bool]) -> Diagnosis | None:
    """Return the failure just before the first launch whose recipe has something."""
    before: Diagnosis | None = None
    for one in attempts:
        if one.launched and has(one.recipe):
            break
        if isinstance(one.verdict, Failed):
            before = one.verdict.diagnosis
    return before


def changes(name: str, value: FlagValue | None, recipe: Recipe) -> bool:
    """Return whether a recipe gives a flag this value."""
    return (name, value) in recipe.changes.items()


def sets(name: str, recipe: Recipe) -> bool:
    """Return whether a recipe sets a variable."""
    return name in recipe.env


def reason_of(diagnosis: Diagnosis | None) -> str:
    """Return a failure in one line: its class, the flag where one is known, and the words."""
    if diagnosis is None:
        return "left out by request"
    flag = f" (--{diagnosis.flag.lstrip('-')})" if diagnosis.flag else ""
    words = diagnosis.summary or (diagnosis.evidence.text if diagnosis.evidence else "")
    return f"{diagnosis.failure.value}{flag}: {words}" if words else f"{diagnosis.failure}{flag}"


def _given(what: str, how: str, told: str | None, cause: Diagnosis | None) -> Given:
    if told is not None:
        return Given(what=what, reason=how + told)
    return Given(what=what, reason=how + reason_of(cause), evidence=_evidence(cause))


def _diagnosis(attempts: Sequence[Attempt]) -> Diagnosis | None:
    verdict = attempts[0].verdict if attempts else None
    return verdict.diagnosis if isinstance(verdict, Failed) else None


def _evidence(diagnosis: Diagnosis | None) -> str:
    return diagnosis.evidence.text[:500] if diagnosis and diagnosis.evidence else ""
