"""What a launch goes without, compared with what was asked for, and why."""

from __future__ import annotations

from collections.abc import Sequence

from relight.core.attempt import Attempt, Failed, Recipe, Refused
from relight.core.failure import Diagnosis
from relight.core.preset import Preset
from relight.core.release import Given


def gave_up(preset: Preset, recipe: Recipe, attempts: Sequence[Attempt]) -> tuple[Given, ...]:
    """Return every layer that a recipe leaves out and every change it makes, each with its reason.

    The reason is preflight's refusal, else the last failure of a launch that still had it.
    """
    refusals = {
        layer: attempt.verdict.reason
        for attempt in attempts
        if isinstance(attempt.verdict, Refused)
        for layer in attempt.verdict.layers
    }
    failed = [one for one in attempts if isinstance(one.verdict, Failed)]
    blame = _diagnosis(failed[-1:])
    given = []
    for name, layer in preset.layers.items():
        if not layer.enabled or name in recipe.layers:
            continue
        cause = _diagnosis([one for one in failed if name in one.recipe.layers][-1:])
        reason = refusals.get(name) or reason_of(cause)
        evidence = "" if name in refusals else _evidence(cause)
        given.append(Given(what=f"layer {name}", reason=reason, evidence=evidence))
    given += [
        Given(
            what=f"--{name}" if value is None else f"--{name} {value}",
            reason=("dropped: " if value is None else "set: ") + reason_of(blame),
            evidence=_evidence(blame),
        )
        for name, value in recipe.changes.items()
    ]
    given += [
        Given(what=f"{name}={value}", reason="set: " + reason_of(blame), evidence=_evidence(blame))
        for name, value in recipe.env.items()
    ]
    return tuple(given)


def reason_of(diagnosis: Diagnosis | None) -> str:
    """Return a failure in one line: its class, the flag where one is known, and the words."""
    if diagnosis is None:
        return "left out by request"
    flag = f" (--{diagnosis.flag.lstrip('-')})" if diagnosis.flag else ""
    words = diagnosis.summary or (diagnosis.evidence.text if diagnosis.evidence else "")
    return f"{diagnosis.failure.value}{flag}: {words}" if words else f"{diagnosis.failure}{flag}"


def _diagnosis(attempts: Sequence[Attempt]) -> Diagnosis | None:
    verdict = attempts[0].verdict if attempts else None
    return verdict.diagnosis if isinstance(verdict, Failed) else None


def _evidence(diagnosis: Diagnosis | None) -> str:
    return diagnosis.evidence.text[:500] if diagnosis and diagnosis.evidence else ""
