"""How a run's counts and exit code come about, in Ansible's words and order."""

from __future__ import annotations

from collections.abc import Iterable

from relight.core.events import HostRecap
from relight.errors import (
    EXIT_BUSY,
    EXIT_DARK,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_ROLLED_BACK,
    EXIT_UNREACHABLE,
)

_WORST_FIRST = (
    EXIT_INTERRUPTED,
    EXIT_DARK,
    EXIT_ROLLED_BACK,
    EXIT_UNREACHABLE,
    EXIT_BUSY,
    EXIT_FAILED,
    EXIT_OK,
)


def counted(recap: HostRecap, *keys: str) -> HostRecap:
    """Return the counts with one more under each key."""
    return recap.model_copy(update={key: getattr(recap, key) + 1 for key in keys})


def host_exit(*, failed: bool, unreachable: bool, code: int | None) -> int:
    """Return a host's exit code; a code that a module gave wins over failed."""
    if unreachable:
        return EXIT_UNREACHABLE
    if failed:
        return code or EXIT_FAILED
    return code or EXIT_OK


def worst(codes: Iterable[int]) -> int:
    """Return the exit code of a run from those of its hosts: the one that needs a person most."""
    found = set(codes)
    known = next((code for code in _WORST_FIRST if code in found), EXIT_OK)
    return known or max(found, default=EXIT_OK)
