"""How a run's counts and exit code come about, in Ansible's words and order."""

from __future__ import annotations

from collections.abc import Iterable

from relight.core.events import HostRecap
from relight.errors import EXIT_FAILED, EXIT_OK, EXIT_UNREACHABLE

_SEVERITY = (EXIT_OK, EXIT_FAILED, EXIT_UNREACHABLE)


def counted(recap: HostRecap, *keys: str) -> HostRecap:
    """Return the counts with one more under each key."""
    return recap.model_copy(update={key: getattr(recap, key) + 1 for key in keys})


def host_exit(recap: HostRecap, code: int | None) -> int:
    """Return a host's exit code; a code that a module gave wins over failed."""
    if recap.unreachable:
        return EXIT_UNREACHABLE
    if recap.failed:
        return code or EXIT_FAILED
    return code or EXIT_OK


def worst(codes: Iterable[int]) -> int:
    """Return the worst exit code: the highest, failed and unreachable being the least bad."""
    return max(codes, default=EXIT_OK)
