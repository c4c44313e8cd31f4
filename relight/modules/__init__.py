"""The verbs of a playbook, a file each, found by their name.

A module file has `class Args(Frozen)`, what the task may say, and
`def run(args: Args, scope: Scope) -> Outcome`, which acts on one host. Optional names:
`FREE_FORM = "cmd"` (the argument that a bare string fills) and `CHECK_MODE = False` (skipped under
`--check`; a module without it must honour `scope.check` itself).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from relight.connections import Connection
from relight.core.events import Event
from relight.project import Project


@dataclass(frozen=True)
class Scope:
    """What a task may reach on one host, handed to it: there is no ambient context.

    `open_connection` connects at its first call and returns the same connection afterwards.
    `variables` are the task's variables, rendered when they are looked up. `environment` and
    `become` are the task's.
    """

    host: str
    variables: Mapping[str, Any]
    project: Project
    open_connection: Callable[[], Connection]
    report: Callable[[Event], None]
    check: bool = False
    diff: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    become: bool = False


def names() -> tuple[str, ...]:
    """Return the modules that exist here, by their short names."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))
