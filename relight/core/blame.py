"""Whose fault a failed launch is: the layer that brought the flag which the engine names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relight.core.attempt import Attempt, Failed, Recipe
from relight.core.failure import Diagnosis
from relight.core.preset import Preset


def blamed_layer(
    preset: Preset, recipe: Recipe, diagnosis: Diagnosis, canonical: Callable[[str], str] = str
) -> str | None:
    """Return the last layer of a recipe that holds the diagnosis's flag, or None."""
    if diagnosis.flag is None:
        return None
    return layer_with(preset, recipe, {canonical(diagnosis.flag.lstrip("-"))}, canonical)


def layer_with(
    preset: Preset, recipe: Recipe, flags: set[str], canonical: Callable[[str], str] = str
) -> str | None:
    """Return the last layer of a recipe that holds one of these flags (canonical names)."""
    for layer in reversed(recipe.layers):
        if flags & {canonical(name) for name in preset.layers[layer].flags}:
            return layer
    return None


def blamed_layers(
    preset: Preset, launched: Sequence[Attempt], canonical: Callable[[str], str] = str
) -> frozenset[str]:
    """Return every layer that a launch of this history was blamed on by name."""
    found = {
        blamed_layer(preset, one.recipe, one.verdict.diagnosis, canonical)
        for one in launched
        if isinstance(one.verdict, Failed)
    }
    return frozenset(layer for layer in found if layer is not None)
