"""One launch: the recipe that was tried, what it cost, and the verdict it came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field

from relight.core.failure import Diagnosis
from relight.core.flags import Flags, FlagValue
from relight.core.model import Frozen
from relight.core.preset import Preset


class Recipe(Frozen):
    """What is put on top of a preset's base flags for one launch.

    `changes` come after the layers: a value sets a flag, None takes it away.
    """

    layers: tuple[str, ...] = ()
    changes: dict[str, FlagValue | None] = {}
    env: dict[str, str] = {}


class Ready(Frozen):
    """The server answered and held."""

    kind: Literal["ready"] = "ready"


class Failed(Frozen):
    """The launch did not become a usable server."""

    kind: Literal["failed"] = "failed"
    diagnosis: Diagnosis


class Refused(Frozen):
    """Preflight refused this before anything was launched: layers, or values of flags.

    `changes` and `env` are what to launch with instead, as in a recipe.
    """

    kind: Literal["refused"] = "refused"
    layers: tuple[str, ...] = ()
    changes: dict[str, FlagValue | None] = {}
    env: dict[str, str] = {}
    reason: str


Verdict = Annotated[Ready | Failed | Refused, Field(discriminator="kind")]


class Attempt(Frozen):
    """One launch (or one refusal of preflight), with the seconds of downtime that it cost."""

    recipe: Recipe
    verdict: Verdict
    seconds: float = Field(default=0.0, ge=0)

    @property
    def launched(self) -> bool:
        """Return whether a process was started."""
        return not isinstance(self.verdict, Refused)


def flags_of(preset: Preset, recipe: Recipe) -> Flags:
    """Return the flags that a recipe comes to: base, then layers, then changes."""
    flags: Flags = dict(preset.flags)
    for layer in recipe.layers:
        flags.update(preset.layers[layer].flags)
    return changed(flags, recipe.changes)


def changed(flags: Flags, changes: Mapping[str, FlagValue | None]) -> Flags:
    """Return flags with some set and some taken away."""
    result = dict(flags)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def refusals(refused: Mapping[str, str], remembered: Iterable[Refused] = ()) -> tuple[Attempt, ...]:
    """Return the history that a first launch begins with: what was refused without launching."""
    checked = [Refused(layers=(layer,), reason=reason) for layer, reason in refused.items()]
    return tuple(Attempt(recipe=Recipe(), verdict=one) for one in (*checked, *remembered))


def first_recipe(preset: Preset, history: Iterable[Attempt], without: Iterable[str] = ()) -> Recipe:
    """Return what is launched first: every enabled layer, less what is refused already."""
    verdicts = [one.verdict for one in history if isinstance(one.verdict, Refused)]
    left_out = {layer for one in verdicts for layer in one.layers} | set(without)
    changes: dict[str, FlagValue | None] = {}
    env: dict[str, str] = {}
    for one in verdicts:
        changes |= one.changes
        env |= one.env
    return Recipe(layers=enabled_layers(preset, left_out), changes=changes, env=env)


def enabled_layers(preset: Preset, without: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the layers that a first launch takes, in the preset's order."""
    left_out = set(without)
    return tuple(
        name for name, layer in preset.layers.items() if layer.enabled and name not in left_out
    )
