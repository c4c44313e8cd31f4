"""Moving a number between two failures: bounded, and never back over a value that failed."""

from __future__ import annotations

from collections.abc import Sequence

from relight.core.attempt import Attempt, Failed, flags_of
from relight.core.failure import FailureClass
from relight.core.preset import Adjust, Preset

NARROW = 0.01
"""A bracket narrower than this has no feasible value (two public SGLang reports ended there)."""


def adjusted(
    preset: Preset, name: str, rule: Adjust, launched: Sequence[Attempt], on: FailureClass
) -> int | float | None:
    """Return the next value of a number, or None when there is none left to try.

    A step goes `by` towards `to`. When a class that wants the opposite direction failed at some
    value, the step goes to the middle of the bracket instead, and ends when it is too narrow.
    `times` counts the launches of this history that failed with the class `on`.
    """
    now = flags_of(preset, launched[-1].recipe).get(name)
    if isinstance(now, bool) or not isinstance(now, int | float):
        return None
    failed = [one.verdict for one in launched if isinstance(one.verdict, Failed)]
    if sum(one.diagnosis.failure is on for one in failed) > rule.times:
        return None
    up = rule.by > 0
    wall = _wall(preset, name, launched, up=up)
    target = now + rule.by
    target = min(target, rule.to) if up else max(target, rule.to)
    if wall is not None and (target >= wall if up else target <= wall):
        if abs(wall - now) < 2 * NARROW:
            return None
        target = (now + wall) / 2
    if (target <= now) if up else (target >= now):
        return None
    if isinstance(now, int) and float(rule.by).is_integer():
        whole = round(target)
        return None if whole in (now, wall) else whole
    return round(target, 4)


def _wall(preset: Preset, name: str, launched: Sequence[Attempt], *, up: bool) -> float | None:
    """Return the nearest value that failed in a class whose fallback moves the other way."""
    opposite = {
        fallback.on
        for fallback in preset.fallbacks
        if name in fallback.adjust and (fallback.adjust[name].by > 0) is not up
    }
    found = [
        value
        for attempt in launched
        if isinstance(attempt.verdict, Failed)
        and attempt.verdict.diagnosis.failure in opposite
        and isinstance(value := flags_of(preset, attempt.recipe).get(name), int | float)
    ]
    if not found:
        return None
    return float(min(found) if up else max(found))
