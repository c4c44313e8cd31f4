"""Engines by name: one module each, found when a preset asks for it."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import cast

from relight.core.engine import Engine


@cache
def names() -> tuple[str, ...]:
    """Return the engines that exist here."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def load(name: str) -> Engine:
    """Return an engine; raises KeyError when there is none of that name."""
    if name not in names():
        raise KeyError(name)
    return cast("Engine", importlib.import_module(f"{__name__}.{name}").ENGINE)
