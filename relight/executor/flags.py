"""Keywords that are true or false, or a number, once they are rendered."""

from __future__ import annotations

from typing import Any

from relight.core.language.templating import Templar, TemplateFault

_TRUE = frozenset({"yes", "true", "on", "1", "y"})
_FALSE = frozenset({"no", "false", "off", "0", "n", ""})


def flag(templar: Templar, value: Any, *, default: bool) -> bool:
    """Return a keyword as a boolean; raises `TemplateFault`."""
    shown = templar.render(value)
    if shown is None:
        return default
    if isinstance(shown, bool | int):
        return bool(shown)
    word = str(shown).lower()
    if word not in _TRUE | _FALSE:
        raise TemplateFault(f"{shown!r} is neither true nor false")
    return word in _TRUE


def number(templar: Templar, value: Any, *, default: float) -> float:
    """Return a keyword as a number; raises `TemplateFault`."""
    shown = templar.render(value)
    if shown is None:
        return default
    try:
        return float(shown)
    except (TypeError, ValueError):
        raise TemplateFault(f"{shown!r} is no number") from None
