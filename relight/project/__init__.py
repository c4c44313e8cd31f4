"""The project on disk: YAML with positions, inventory, presets, playbooks, templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from relight.core.address import Address
from relight.core.preset import Preset
from relight.core.service import HostSpec


class Project(Protocol):
    """One folder with inventory/, playbooks/ and templates/, read and checked whole."""

    root: Path
    presets: Mapping[str, Preset]

    def hosts(self, pattern: str) -> tuple[str, ...]:
        """Return the hosts of an Ansible pattern, in the inventory's order; raises UsageError."""

    def variables(self, host: str) -> Mapping[str, Any]:
        """Return a host's variables as written: templates in them are not rendered yet."""

    def spec(self, host: str) -> HostSpec:
        """Return what relight reads of a host, rendered and checked."""

    def address(self, host: str) -> Address:
        """Return how the host is reached, rendered and checked."""

    def template(self, name: str) -> str:
        """Return the text of a file under templates/ (the project's own, else the shipped one)."""
