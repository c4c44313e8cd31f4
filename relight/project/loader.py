"""Reads a whole project and checks it, so that all faults of all files show in one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from relight import launchers
from relight.core.inventory import Inventory
from relight.core.language.templating import is_template
from relight.errors import Fault, InputFaults
from relight.project import content, extra_variables
from relight.project.connection_variables import address
from relight.project.files import Files
from relight.project.folding import Folded
from relight.project.host_settings import concerns_relight, named_presets, spec
from relight.project.inventory_source import Sources
from relight.project.loaded import LoadedProject, Settled
from relight.project.marks import written_in_a_command_line
from relight.project.precedence import VariableFiles, of_host
from relight.project.preset_files import find
from relight.project.rendering import Rendered, syntax_faults
from relight.project.undefined import nowhere_defined
from relight.project.variables import Variable, Variables
from relight.project.vault import Vault
from relight.project.wording import did_you_mean, got


def load(
    root: Path,
    inventory_sources: Sequence[str] = (),
    extra_vars: Iterable[str] = (),
    vault: Vault | None = None,
    beside: Iterable[Path] = (),
) -> LoadedProject:
    """Return the project in a folder; raises InputFaults with every fault of every file.

    Without `inventory_sources` the project's own inventory/ is read, else the shipped one.
    `vault` reads secret values; without one, references by `command` have no value. `beside` are
    folders of playbooks that are run: their group_vars and host_vars count too.
    """
    folders = (root / "playbooks", *beside)
    reading = _Reading(root, inventory_sources, extra_vars, vault or Vault(_no_process), folders)
    project = reading.project()
    if project is None or reading.faults:
        raise InputFaults(reading.faults)
    return project


def _no_process(command: str) -> str:
    raise OSError(f"{command!r} was not run: no process may be started here")


class _Reading:
    """One run over all files: first what they say, then what that comes to on each host."""

    def __init__(
        self,
        root: Path,
        inventory_sources: Sequence[str],
        extra_vars: Iterable[str],
        vault: Vault,
        playbooks: Iterable[Path],
    ) -> None:
        self._root = root
        self._vault = vault
        self._files = Files()
        self._folded = Folded()
        self._sources = Sources(self._files)
        for source in inventory_sources or (str(_own_inventory(root)),):
            self._sources.take(source)
        self._beside = (
            VariableFiles(self._files, self._sources.directories),
            VariableFiles(self._files, playbooks),
        )
        for variable_files in self._beside:
            variable_files.read_all()
        self._extra = extra_variables.read(extra_vars, self._files)
        self._presets = find(self._preset_folders(), self._files)
        for document in self._files.documents:
            self._files.add(syntax_faults(document))
        self._used: set[str] = set()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return all faults: those of files, and those that hosts have with them."""
        own = set(self._files.faults)
        return (*own, *self._folded.faults(own))

    def project(self) -> LoadedProject | None:
        """Return the project, sound or not; None where no host could be settled."""
        inventory = self._sources.inventory()
        if inventory is None:
            return None
        rendered = {host: self._rendered(host, inventory) for host in inventory.hosts}
        settled: dict[str, Settled] = {}
        for host, values in rendered.items():
            one = self._settle(host, values)
            if one is not None:
                settled[host] = one
        guesses = {} if self._sources.whole else self._guessed(inventory)
        for host, values in guesses.items():
            self._settle(host, values, guessed=True)
        everybody = {**rendered, **guesses}
        self._check_unused(everybody)
        self._files.add(nowhere_defined(everybody, self._root))
        extra = {name: variable.value for name, variable in self._extra.items()}
        return LoadedProject(self._root, inventory, self._presets, settled, self._vault, extra)

    def _rendered(self, host: str, inventory: Inventory) -> Rendered:
        variables = of_host(host, self._sources, inventory, self._beside, self._extra)
        return Rendered(variables, self._files.mentioned)

    def _guessed(self, inventory: Inventory) -> dict[str, Rendered]:
        """Return hosts that a broken inventory probably has: those with host_vars.

        Any group may be theirs, so they get the variables of all groups.
        """
        groups = [name for files in self._beside for name in files.names("group_vars")]
        hosts = [name for files in self._beside for name in files.names("host_vars")]
        found: dict[str, Rendered] = {}
        for host in hosts or ["a host"]:
            if host not in inventory.hosts:
                variables: Variables = {}
                for files in self._beside:
                    variables |= files.groups(groups) | files.host(host)
                found[host] = Rendered({**variables, **self._extra}, self._files.mentioned)
        return found

    def _settle(self, host: str, rendered: Rendered, *, guessed: bool = False) -> Settled | None:
        place = self._place(host)
        found_address, wrong = address(place, rendered)
        self._folded.add(host, wrong)
        for service, name in named_presets(rendered):
            self._check_named(host, service, name, rendered)
        found_spec, wrong = spec(place, rendered, launchers.names())
        if "relight_engine" in self._files.mentioned or guessed:
            wrong = tuple(f for f in wrong if not f.what.startswith("relight_engine is missing"))
        if found_spec is None and not concerns_relight(rendered):
            return Settled(rendered, InputFaults(wrong), found_address) if found_address else None
        self._folded.add(host, wrong)
        if found_spec is None or found_address is None:
            return None
        for name, wanted in found_spec.services.items():
            file = self._presets.get(wanted.preset)
            preset, _ = file.on(rendered) if file is not None else (None, ())
            if file is not None and preset is not None:
                fault = file.gpu_fault(preset, wanted, f"the service {name}")
                self._folded.add(host, () if fault is None else (fault,))
        return Settled(rendered, found_spec, found_address)

    def _check_named(self, host: str, service: str, name: str, rendered: Rendered) -> None:
        self._used.add(name)
        file = self._presets.get(name)
        if file is not None:
            if file.document.data is not None:
                _, wrong = file.on(rendered)
                self._folded.add(host, wrong)
            return
        if is_template(name):
            return
        what = f"the service {service} names the preset {got(name)}, which does not exist"
        right = did_you_mean(name, self._presets, "presets")
        variable = rendered.variables["relight_services"]
        self._folded.add(host, [variable.fault(what, right, (service, "preset"))])

    def _check_unused(self, everybody: dict[str, Rendered]) -> None:
        """Render presets that no service names: each should suit at least one host."""
        for name, file in self._presets.items():
            if name in self._used or file.document.data is None:
                continue
            worst: tuple[str, tuple[Fault, ...]] | None = None
            for host, rendered in everybody.items():
                _, wrong = file.on(rendered)
                if not wrong:
                    worst = None
                    break
                worst = worst or (host, wrong)
            if worst is not None:
                self._folded.add("every host", worst[1])

    def _preset_folders(self) -> tuple[Path, ...]:
        """Return the project's own folders of presets, else the shipped one where it is wanted."""
        own = [self._root / "inventory", *self._sources.directories]
        found = dict.fromkeys((one / "presets").resolve() for one in own)
        existing = tuple(one for one in found if one.is_dir())
        # A project without services needs no preset, and reading the shipped ones takes a while.
        services = "relight_services"
        named = services in self._files.mentioned or services in self._extra
        if existing or not (named or any(_says(d.data, services) for d in self._files.documents)):
            return existing
        return (content.shipped() / "inventory" / "presets",)

    def _place(self, host: str) -> Variable:
        document, trail = self._sources.places.get(
            host, (written_in_a_command_line("--inventory", {}), ())
        )
        return Variable(host, document, trail)


def _own_inventory(root: Path) -> Path:
    return next((one for one in content.folders(root, "inventory") if one.is_dir()), root)


def _says(value: Any, name: str) -> bool:
    """Return whether a value holds a mapping with that key, however deep."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if name in one:
                return True
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return False
