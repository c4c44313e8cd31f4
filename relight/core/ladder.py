"""The ladder: what to do after each attempt, decided from the history alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from relight.core.attempt import Attempt, Failed, Ready, Recipe, first_recipe, flags_of
from relight.core.blame import blamed_layer, blamed_layers, layer_with
from relight.core.bracket import adjusted
from relight.core.failure import Diagnosis, FailureClass
from relight.core.flags import FlagValue, argv
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
        FailureClass.DIST_INIT,
    }
)
"""Classes that no optional flag causes: giving up layers would only cost minutes."""

Canonical = Callable[[str], str]


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
    canonical: Canonical = str,
    without: frozenset[str] = frozenset(),
) -> Step:
    """Decide what follows a history of attempts.

    Laws (held by property tests): it ends; launches stay within `preset.attempts` and start only
    while the downtime is below `preset.max_downtime`; no command line is launched twice; no
    protected flag differs from the preset; it promotes exactly when the last verdict is Ready.
    """
    if attempts and isinstance(attempts[-1].verdict, Ready):
        return Promote()
    launched = [attempt for attempt in attempts if attempt.launched]
    if not launched:
        return _first(preset, attempts, protected, canonical, without)
    if len(launched) >= preset.attempts:
        return RollBack(reason=f"{len(launched)} attempts, as many as the preset allows")
    if sum(attempt.seconds for attempt in launched) >= preset.max_downtime:
        return RollBack(reason="the preset's max_downtime is used up")
    tried = [flags_of(preset, attempt.recipe) | _env(attempt.recipe) for attempt in launched]
    lines = {_line(preset, attempt.recipe, canonical) for attempt in launched}
    for candidate in _candidates(preset, launched, canonical):
        recipe = candidate.recipe
        if flags_of(preset, recipe) | _env(recipe) in tried:
            continue
        if _line(preset, recipe, canonical) in lines:
            continue
        if _touched(preset, recipe, launched[0].recipe.layers, canonical) & protected:
            continue
        return candidate
    return RollBack(reason="nothing is left to give up")


def _first(
    preset: Preset,
    attempts: Sequence[Attempt],
    protected: frozenset[str],
    canonical: Canonical,
    without: frozenset[str],
) -> Step:
    recipe = first_recipe(preset, attempts, without)
    asked = first_recipe(preset, (), without).layers
    held = _touched(preset, recipe.model_copy(update={"changes": {}}), asked, canonical) & protected
    if held:
        what = ", ".join(sorted(held))
        return RollBack(reason=f"what preflight refused holds {what}, which is never given up")
    allowed = {
        name: value for name, value in recipe.changes.items() if canonical(name) not in protected
    }
    return Launch(recipe=recipe.model_copy(update={"changes": allowed}))


def _env(recipe: Recipe) -> dict[str, FlagValue]:
    return {f"env {name}": value for name, value in recipe.env.items()}


def _line(preset: Preset, recipe: Recipe, canonical: Canonical) -> frozenset[tuple[str, ...]]:
    """Return what a launch comes to: a flag that is false is one that is not there."""
    flags = {canonical(name): value for name, value in flags_of(preset, recipe).items()}
    words = {(name, *argv({name: value})) for name, value in flags.items() if value is not False}
    return frozenset(words | {("env", name, value) for name, value in recipe.env.items()})


def _touched(
    preset: Preset, recipe: Recipe, asked: Sequence[str], canonical: Canonical
) -> set[str]:
    """Return the flags (canonical names) whose values differ from what was asked for first."""
    before = flags_of(preset, Recipe(layers=tuple(asked)))
    after = flags_of(preset, recipe)
    return {
        canonical(name)
        for name in before.keys() | after.keys()
        if (name in before) != (name in after) or before.get(name) != after.get(name)
    }


def _candidates(
    preset: Preset, launched: Sequence[Attempt], canonical: Canonical
) -> Iterator[Launch]:
    last = launched[-1]
    if not isinstance(last.verdict, Failed):
        return
    diagnosis = last.verdict.diagnosis
    blamed = blamed_layer(preset, last.recipe, diagnosis, canonical)
    if blamed:
        yield Launch(
            recipe=_without(last.recipe, blamed), reason=f"layer {blamed} is blamed for the failure"
        )
    for fallback in preset.fallbacks:
        if fallback.on is diagnosis.failure:
            recipe = _applied(preset, fallback, launched, canonical)
            if recipe is not None:
                yield Launch(recipe=recipe, reason=f"the preset's fallback for {fallback.on}")
    yield from _built_in(preset, last.recipe, diagnosis, canonical)
    if diagnosis.failure in HOPELESS or _outside_layers(diagnosis, blamed):
        return
    yield from _by_elimination(preset, launched, canonical)


def _outside_layers(diagnosis: Diagnosis, blamed: str | None) -> bool:
    """Return whether the engine refused a flag by its name, and no layer brought it."""
    refused = diagnosis.failure in (FailureClass.CLI_ARGS, FailureClass.FLAG_CONFLICT)
    return refused and diagnosis.flag is not None and blamed is None


def _by_elimination(
    preset: Preset, launched: Sequence[Attempt], canonical: Canonical
) -> Iterator[Launch]:
    """Yield launches without one layer each, the last first, then without any.

    One at a time finds the guilty one and keeps the innocent. Layers that were blamed by name stay
    out. The last launch that is allowed is not spent on a guess: it goes without any layer.
    """
    last = launched[-1].recipe
    proven = blamed_layers(preset, launched, canonical)
    suspects = tuple(name for name in launched[0].recipe.layers if name not in proven)
    bare = Launch(
        recipe=last.model_copy(update={"layers": ()}),
        reason="no flag is named: trying without any layer",
    )
    if preset.attempts - len(launched) == 1:
        yield bare
    for layer in reversed(suspects):
        recipe = _without(last.model_copy(update={"layers": suspects}), layer)
        yield Launch(recipe=recipe, reason=f"no flag is named: trying without layer {layer}")
    yield bare


def _without(recipe: Recipe, layer: str) -> Recipe:
    return recipe.model_copy(
        update={"layers": tuple(name for name in recipe.layers if name != layer)}
    )


def _applied(
    preset: Preset, fallback: Fallback, launched: Sequence[Attempt], canonical: Canonical
) -> Recipe | None:
    """Return the last recipe with a declared fallback applied; None when it changes nothing."""
    last = launched[-1].recipe
    present = {canonical(name): name for name in flags_of(preset, last)}
    changes: dict[str, FlagValue | None] = dict(last.changes)
    for name in fallback.drop:
        if canonical(name) in present:
            changes[present[canonical(name)]] = None
    for name, value in fallback.set.items():
        changes[present.get(canonical(name), name)] = value
    for name, rule in fallback.adjust.items():
        written = present.get(canonical(name), name)
        number = adjusted(preset, written, rule, launched, fallback.on)
        if number is not None:
            changes[written] = number
    return None if changes == last.changes else last.model_copy(update={"changes": changes})


def _built_in(
    preset: Preset, recipe: Recipe, diagnosis: Diagnosis, canonical: Canonical
) -> Iterator[Launch]:
    """Yield the engine's own remedy: a layer that it drops, then flags and variables that it adds.

    No base flag is dropped or changed by it, and what is not called safe adds nothing.
    """
    remedy = diagnosis.remedy
    if remedy.auto == "never":
        return
    guilty = layer_with(preset, recipe, {canonical(name) for name in remedy.drop}, canonical)
    if guilty is not None:
        reason = f"the remedy for {diagnosis.failure} drops what layer {guilty} brings"
        yield Launch(recipe=_without(recipe, guilty), reason=reason)
    if remedy.auto != "safe":
        return
    present = {canonical(name) for name in flags_of(preset, recipe)}
    added = {name: value for name, value in remedy.set.items() if canonical(name) not in present}
    env = {name: value for name, value in remedy.env.items() if name not in preset.env}
    if added or env:
        update = {"changes": {**recipe.changes, **added}, "env": {**recipe.env, **env}}
        yield Launch(
            recipe=recipe.model_copy(update=update),
            reason=f"the known remedy for {diagnosis.failure}",
        )
