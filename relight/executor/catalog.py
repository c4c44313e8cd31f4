"""A playbook read and checked against the modules that exist."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from relight import modules
from relight.core.language.playbook import ModuleSpec, Playbook
from relight.project import Project
from relight.project.playbooks import load_playbook


class Modules:
    """The modules of relight."""

    def names(self) -> tuple[str, ...]:
        """Return all names."""
        return modules.names()

    def spec(self, name: str) -> ModuleSpec:
        """Return what is known of one module."""
        return modules.spec(name)


def load(project: Project, path: Path, extra: Iterable[str] | None = None) -> Playbook:
    """Return a playbook, checked whole; raises InputFaults.

    `extra` names the variables that the run is given besides those of the project: only who says
    them has undefined variables found.
    """
    if extra is None:
        return load_playbook(project, path, Modules())
    known: set[str] = set(extra)
    for host in project.hosts("all"):
        known |= set(project.variables(host))
    return load_playbook(project, path, Modules(), known)
