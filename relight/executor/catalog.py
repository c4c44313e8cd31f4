"""A playbook read and checked against the modules that exist."""

from __future__ import annotations

from pathlib import Path

from relight import modules
from relight.core.playbook import ModuleSpec, Playbook
from relight.project.playbooks import Rooted, load_playbook


class Modules:
    """The modules of relight."""

    def names(self) -> tuple[str, ...]:
        """Return all names."""
        return modules.names()

    def spec(self, name: str) -> ModuleSpec:
        """Return what is known of one module."""
        return modules.spec(name)


def load(project: Rooted, path: Path) -> Playbook:
    """Return a playbook, its modules and their arguments checked; raises InputFaults."""
    return load_playbook(project, path, Modules())
