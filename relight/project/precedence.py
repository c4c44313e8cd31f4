"""Which file's word counts for a host: Ansible's order of group_vars, host_vars and inventory.

From weak to strong: variables of `all` in inventory files, of its other groups there; then
group_vars/all beside the inventory, then beside the playbooks; then group_vars/* of the other
groups, likewise; then the host's own in inventory files, host_vars/* beside the inventory, beside
the playbooks; then extra variables. Source: ansible-core 2.19, `VariableManager.get_vars`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from relight.core.inventory import ALL, Inventory
from relight.project.files import EXTENSIONS, Files
from relight.project.inventory_source import Sources
from relight.project.variables import Variables, built_in, of_document


class VariableFiles:
    """The group_vars and host_vars of some directories, each file read once."""

    def __init__(self, files: Files, directories: Iterable[Path]) -> None:
        self._files = files
        self._directories = tuple(dict.fromkeys(directories))
        self._found: dict[tuple[Path, str, str], Variables] = {}

    def read_all(self) -> None:
        """Read every file there is, also of groups and hosts that nobody has: all faults show."""
        for kind in ("group_vars", "host_vars"):
            for name in self.names(kind):
                self._merged(kind, (name,))

    def names(self, kind: str) -> tuple[str, ...]:
        """Return whose variables there are: the groups of group_vars, the hosts of host_vars."""
        found: dict[str, None] = {}
        for directory in self._directories:
            for entry in self._files.entries(directory / kind):
                if _counts(entry):
                    ends = not entry.is_dir() and entry.suffix in EXTENSIONS
                    found[entry.stem if ends else entry.name] = None
        return tuple(found)

    def groups(self, names: Sequence[str]) -> Variables:
        """Return what the group_vars say: directory by directory, in each group by group."""
        return self._merged("group_vars", names)

    def host(self, name: str) -> Variables:
        """Return what the host_vars say."""
        return self._merged("host_vars", (name,))

    def _merged(self, kind: str, names: Sequence[str]) -> Variables:
        merged: Variables = {}
        for directory in self._directories:
            for name in names:
                merged |= self._of(directory, kind, name)
        return merged

    def _of(self, directory: Path, kind: str, name: str) -> Variables:
        key = (directory, kind, name)
        if key not in self._found:
            found: Variables = {}
            for path in self._paths(directory / kind, name):
                document = self._files.mapping(path, "a file of variables")
                if document is not None:
                    said, faults = of_document(document)
                    self._files.add(faults)
                    found |= said
            self._found[key] = found
        return self._found[key]

    def _paths(self, directory: Path, name: str) -> tuple[Path, ...]:
        """Return the files that are meant: of several endings only the first that exists."""
        for extension in EXTENSIONS:
            path = directory / f"{name}{extension}"
            if path.is_dir():
                return self._inside(path)
            if path.exists():
                return (path,)
        return ()

    def _inside(self, directory: Path) -> tuple[Path, ...]:
        found: list[Path] = []
        for path in self._files.entries(directory):
            if not _counts(path):
                continue
            if path.is_dir() and not path.suffix:
                found += self._inside(path)
            elif path.is_file() and path.suffix in EXTENSIONS:
                found.append(path)
        return tuple(found)


def of_host(
    host: str,
    sources: Sources,
    inventory: Inventory,
    beside: tuple[VariableFiles, VariableFiles],
    extra: Variables,
) -> Variables:
    """Return a host's variables, the strongest word of each.

    `beside` are the variable files beside the inventory and those beside the playbooks.
    """
    groups = inventory.groups_of(host)
    merged: Variables = dict(sources.group_variables.get(ALL, {}))
    for group in groups:
        merged |= sources.group_variables.get(group, {})
    for names in ((ALL,), groups):
        for files in beside:
            merged |= files.groups(names)
    merged |= sources.host_variables.get(host, {})
    for files in beside:
        merged |= files.host(host)
    return {**merged, **extra, **_magic(host, inventory, sources)}


def _magic(host: str, inventory: Inventory, sources: Sources) -> Variables:
    """Return the variables that Ansible makes for every host, which nothing can override."""
    place = sources.places.get(host)
    file = None if place is None or place[0].path.startswith("--") else Path(place[0].path)
    values = {
        "inventory_file": None if file is None else str(file.absolute()),
        "inventory_dir": None if file is None else str(file.absolute().parent),
        "ansible_inventory_sources": list(sources.named),
        "inventory_hostname": host,
        "inventory_hostname_short": host.split(".", maxsplit=1)[0],
        "group_names": sorted(inventory.groups_of(host)),
        "groups": inventory.everybody,
    }
    return {name: built_in(value) for name, value in values.items()}


def _counts(path: Path) -> bool:
    return not path.name.startswith(".") and not path.name.endswith("~")
