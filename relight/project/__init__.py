"""The project on disk: YAML with positions, inventory, presets, playbooks, templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from relight.core.address import Address
from relight.core.preset import Preset
from relight.core.service import HostSpec


class Shown(Protocol):
    """One variable of a host for a person: rendered, as written, and `file:line`."""

    @property
    def name(self) -> str:
        """Return the variable's name."""

    @property
    def value(self) -> Any:
        """Return what it comes to."""

    @property
    def origin(self) -> str:
        """Return where it was written."""


class Project(Protocol):
    """One folder with inventory/, playbooks/ and templates/, read and checked whole."""

    root: Path
    presets: Mapping[str, Preset]

    def hosts(self, pattern: str, missing: list[str] | None = None) -> tuple[str, ...]:
        """Return the hosts of an Ansible pattern in Ansible's order: part by part as written.

        Raises UsageError; parts that mean nothing are added to `missing` where that is given.
        """

    def variables(self, host: str) -> Mapping[str, Any]:
        """Return a host's variables as written: templates in them are not rendered yet."""

    def extra_variables(self) -> Mapping[str, Any]:
        """Return what `-e` said, as written: it wins over every level of a playbook too."""

    def spec(self, host: str) -> HostSpec:
        """Return what relight reads of a host, rendered and checked."""

    def preset(self, host: str, name: str) -> Preset:
        """Return a preset, its templates rendered with the host's variables."""

    def address(self, host: str) -> Address:
        """Return how the host is reached, rendered and checked."""

    def playbook(self, name: str) -> Path:
        """Return a playbook by its name: the project's own, else the shipped one."""

    def inventory_report(self, host: str) -> tuple[Shown, ...]:
        """Return each variable of a host with its value as text and where it was written."""

    def secrets(self, host: str, preset: str) -> Mapping[str, str]:
        """Return a preset's secret values, read now; raises InputFaults for each that is lost."""

    def hide(self, values: Iterable[str]) -> None:
        """Show none of these values from now on."""

    def template(self, name: str) -> str:
        """Return the text of a file under templates/ (the project's own, else the shipped one)."""
