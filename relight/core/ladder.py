"""The ladder: what to do after each attempt, decided from the history alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from relight.core.attempt import Attempt, Failed, Ready, Recipe, Refused, enabled_layers, flags_of
from relight.core.bracket import adjusted
from relight.core.failure import Diagnosis, FailureClass
from relight.core.flags import FlagValue
from relight.core.model import Frozen
from relight.core.preset import Fallback, Preset

HOPELESS = frozenset(
    {
        FailureClass.MODEL_ACCESS,
        FailureClass.MODEL_UNSUPPORTED,
        FailureClass.CHECKPOINT_MISMATCH,
        FailureClass.PORT_IN_USE,
        FailureClass.GPU_UNAVAILABLE,
        FailureClass.HOST_RESOURCES,
        FailureClass.ENV_TOOLCHAIN,
    }
)
"""Classes that no optional flag causes: giving up layers would only cost minutes."""


class Launch(Frozen):
    """Launch this recipe; `reason` is empty for the first one."""

    kind: Literal["launch"] = "launch"
    recipe: Recipe
    reason: str = ""


class Promote(Frozen):
    """The last attempt is ready."""

    kind: Literal["promote"] = "promote"


class RollBack(Frozen):
    """Nothing is left to try, or the budget is spent."""

    kind: Literal["roll_back"] = "roll_back"
    reason: str


Step = Launch | Promote | RollBack


def next_step(
    preset: Preset,
    attempts: Sequence[Attempt],
    *,
    protected: frozenset[str] = frozenset(),
    canonical: Callable[[str], str] = str,
    without: frozenset[str] = frozenset(),
) -> Step:
    """Decide what follows a history of attempts.

    Laws (held by property tests): it ends; launches stay within `preset.attempts` and start only
    while the downtime is below `preset.max_downtime`; no recipe is launched twice; no protected
    flag differs from the preset; it promotes exactly when the last verdict is Ready.
    """
    if attempts and isinstance(attempts[-1].verdict, Ready):
        return Promote()
    launched = [attempt for attempt in attempts if attempt.launched]
    refused = {
        layer
        for attempt in attempts
        if isinstance(attempt.verdict, Refused)
        for layer in attempt.verdict.layers
    }
    if not launched:
        return Launch(recipe=Recipe(layers=enabled_layers(preset, refused | without)))
    if len(launched) >= preset.attempts:
        return RollBack(reason=f"{len(launched)} attempts, as many as the preset allows")
    if sum(attempt.seconds for attempt in launched) >= preset.max_downtime:
        return RollBack(reason="the preset's max_downtime is used up")
    tried = [flags_of(preset, attempt.recipe) | _env_key(attempt.recipe) for attempt in launched]
    for candidate in _candidates(preset, launched, canonical):
        flags = flags_of(preset, candidate.recipe)
        if flags | _env_key(candidate.recipe) in tried:
            continue
        if _touched(preset, candidate.recipe, canonical) & protected:
            continue
        return candidate
    return RollBack(reason="nothing is left to give up")


def _env_key(recipe: Recipe) -> dict[str, FlagValue]:
    return {f"env {name}": value for name, value in recipe.env.items()}


def _touched(preset: Preset, recipe: Recipe, canonical: Callable[[str], str]) -> set[str]:
    """Return the flags whose value a recipe's changes alter, under their canonical names."""
    before = flags_of(preset, Recipe(layers=recipe.layers))
    return {canonical(name) for name, value in recipe.changes.items() if before.get(name) != value}


def _candidates(
    preset: Preset, launched: Sequence[Attempt], canonical: Callable[[str], str]
) -> Iterator[Launch]:
    last = launched[-1]
    if not isinstance(last.verdict, Failed):
        return
    diagnosis = last.verdict.diagnosis
    blamed = _blamed(preset, last.recipe, diagnosis, canonical)
    if blamed:
        yield Launch(
            recipe=_without(last.recipe, blamed), reason=f"layer {blamed} is blamed for the failure"
        )
    for fallback in preset.fallbacks:
        if fallback.on is diagnosis.failure:
            recipe = _applied(preset, fallback, launched)
            if recipe is not None:
                yield Launch(recipe=recipe, reason=f"the preset's fallback for {fallback.on}")
    remedy = _built_in(preset, last.recipe, diagnosis)
    if remedy is not None:
        yield Launch(recipe=remedy, reason=f"the known remedy for {diagnosis.failure}")
    if diagnosis.failure in HOPELESS or _outside_layers(diagnosis, blamed):
        return
    # One layer at a time finds the guilty one and keeps the innocent; only then all at once.
    first = launched[0].recipe
    for layer in reversed(first.layers):
        recipe = _without(last.recipe.model_copy(update={"layers": first.layers}), layer)
        yield Launch(recipe=recipe, reason=f"no flag is named: trying without layer {layer}")
    if first.layers:
        yield Launch(
            recipe=last.recipe.model_copy(update={"layers": ()}),
            reason="no flag is named: trying without any layer",
        )


def _outside_layers(diagnosis: Diagnosis, blamed: str | None) -> bool:
    """Return whether the engine refused a flag by its name, and no layer brought it."""
    refused = diagnosis.failure in (FailureClass.CLI_ARGS, FailureClass.FLAG_CONFLICT)
    return refused and diagnosis.flag is not None and blamed is None


def _blamed(
    preset: Preset, recipe: Recipe, diagnosis: Diagnosis, canonical: Callable[[str], str]
) -> str | None:
    if diagnosis.flag is None:
        return None
    flag = canonical(diagnosis.flag.lstrip("-"))
    for layer in reversed(recipe.layers):
        if flag in {canonical(name) for name in preset.layers[layer].flags}:
            return layer
    return None


def _without(recipe: Recipe, layer: str) -> Recipe:
    return recipe.model_copy(
        update={"layers": tuple(name for name in recipe.layers if name != layer)}
    )


def _applied(preset: Preset, fallback: Fallback, launched: Sequence[Attempt]) -> Recipe | None:
    """Return the last recipe with a declared fallback applied; None when it changes nothing."""
    last = launched[-1].recipe
    flags = flags_of(preset, last)
    changes: dict[str, FlagValue | None] = dict(last.changes)
    changes.update(dict.fromkeys((name for name in fallback.drop if name in flags), None))
    changes.update(fallback.set)
    for name, rule in fallback.adjust.items():
        value = adjusted(preset, name, rule, launched)
        if value is not None:
            changes[name] = value
    return None if changes == last.changes else last.model_copy(update={"changes": changes})


def _built_in(preset: Preset, recipe: Recipe, diagnosis: Diagnosis) -> Recipe | None:
    """Return the recipe with a safe remedy; it adds flags and variables, and drops no base flag."""
    remedy = diagnosis.remedy
    if remedy.auto != "safe":
        return None
    flags = flags_of(preset, recipe)
    added = {name: value for name, value in remedy.set.items() if name not in flags}
    env = {name: value for name, value in remedy.env.items() if name not in preset.env}
    if not (added or env):
        return None
    return recipe.model_copy(
        update={"changes": {**recipe.changes, **added}, "env": {**recipe.env, **env}}
    )
