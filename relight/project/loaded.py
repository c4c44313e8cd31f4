"""A project that was read and found sound: what the rest of relight asks it for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relight.core import patterns
from relight.core.address import Address
from relight.core.inventory import Inventory
from relight.core.preset import Preset
from relight.core.service import HostSpec
from relight.errors import InputFaults, UsageError
from relight.project import content
from relight.project.files import Files
from relight.project.preset_files import PresetFile
from relight.project.rendering import Rendered, unrendered
from relight.project.vault import Vault
from relight.project.wording import did_you_mean, is_secret
from relight.project.yaml import read_text

HIDDEN = "(not shown)"


@dataclass(frozen=True)
class Settled:
    """One host: its variables with their places, and what relight made of them."""

    rendered: Rendered
    spec: HostSpec | InputFaults
    address: Address


@dataclass(frozen=True)
class Origin:
    """One variable of a host for a person: rendered, as written, and `file:line`."""

    name: str
    value: Any
    written: Any
    origin: str


class LoadedProject:
    """One folder with inventory/, playbooks/ and templates/, read and checked whole."""

    def __init__(
        self,
        root: Path,
        inventory: Inventory,
        preset_files: Mapping[str, PresetFile],
        settled: Mapping[str, Settled],
        vault: Vault,
        extra: Mapping[str, Any] = {},
    ) -> None:
        self.root = root
        self._extra = extra
        self._vault = vault
        self.inventory = inventory
        self.presets: Mapping[str, Preset] = {
            name: file.preset for name, file in preset_files.items() if file.preset is not None
        }
        self._preset_files = preset_files
        self._settled = settled

    def hosts(self, pattern: str, missing: list[str] | None = None) -> tuple[str, ...]:
        """Return the hosts of an Ansible pattern in Ansible's order: part by part as written.

        Raises UsageError; parts that mean nothing are added to `missing` where that is given.
        """
        return patterns.hosts(self.inventory, pattern, missing)

    def variables(self, host: str) -> Mapping[str, Any]:
        """Return a host's variables as written: templates in them are not rendered yet."""
        variables = self._host(host).rendered.variables
        return {name: variable.value for name, variable in variables.items()}

    def extra_variables(self) -> Mapping[str, Any]:
        """Return what `-e` said, as written: it wins over every level of a playbook too."""
        return self._extra

    def spec(self, host: str) -> HostSpec:
        """Return what relight reads of a host; raises InputFaults where no engine is said."""
        spec = self._host(host).spec
        if isinstance(spec, InputFaults):
            raise spec
        return spec

    def address(self, host: str) -> Address:
        """Return how the host is reached, rendered and checked."""
        return self._host(host).address

    def preset(self, host: str, name: str) -> Preset:
        """Return a preset, its templates rendered with the host's variables.

        Raises UsageError for a preset that is not there, InputFaults for one that this host's
        variables do not fill.
        """
        if name not in self._preset_files:
            right = did_you_mean(name, self._preset_files, "presets")
            raise UsageError(f"there is no preset {name!r}; {right}")
        preset, faults = self._preset_files[name].on(self._host(host).rendered)
        if preset is None or faults:
            raise InputFaults(faults)
        return preset

    def secrets(self, host: str, preset: str) -> Mapping[str, str]:
        """Return a preset's secret values, read now; raises InputFaults for each that is lost."""
        found = self.preset(host, preset)
        document = self._preset_files[preset].document
        return self._vault.values((host, preset), found, document, self.root)

    def hide(self, values: Iterable[str]) -> None:
        """Show none of these values from now on: a host keeps them, and its texts may hold them."""
        self._vault.hide(values)

    def template(self, name: str) -> str:
        """Return the text of a file under templates/ (the project's own, else the shipped one).

        relight's own scripts are always the shipped ones: an old copy would meet a newer relight.
        """
        own = content.internal(Path("templates", name))
        path = content.find(content.shipped() if own else self.root, "templates", name)
        return read_text(path, Files().shown(path))

    def playbook(self, name: str) -> Path:
        """Return the path of a file under playbooks/ (the project's own, else the shipped one)."""
        return content.find(self.root, "playbooks", name)

    def inventory_report(self, host: str) -> tuple[Origin, ...]:
        """Return every variable of a host, rendered where that is possible now, and its origin.

        Values whose names look like secrets are hidden.
        """
        rendered = self._host(host).rendered
        found: list[Origin] = []
        for name in sorted(rendered.variables):
            variable = rendered.variables[name]
            value, _ = rendered.value(variable.value, variable.place)
            shown = (_masked(name, value), _masked(name, variable.value))
            found.append(Origin(name, *shown, variable.origin))
        return tuple(found)

    def _host(self, host: str) -> Settled:
        if host not in self._settled:
            right = did_you_mean(host, self._settled, "hosts")
            raise UsageError(f"there is no host {host!r} in the inventory; {right}")
        return self._settled[host]


def _masked(name: object, value: Any) -> Any:
    """Return a value with everything hidden whose name looks like a secret's."""
    if isinstance(value, Mapping):
        if len(value) == 1 and set(value) <= {"env", "file", "command"}:
            return dict(value)  # a reference says where a secret is, not what it is
        return {k: _masked(name if is_secret(name) else k, item) for k, item in value.items()}
    if isinstance(value, list):
        return [_masked(name, item) for item in value]
    if is_secret(name) and value is not None and not isinstance(value, bool):
        return HIDDEN
    return str(value) if unrendered(value) else value
