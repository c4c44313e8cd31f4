"""Inventory sources (`-i`): YAML files, JSON of `ansible-inventory --list`, directories, lists."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relight.core.hostrange import expand
from relight.core.inventory import ALL, UNGROUPED, Group, Inventory, cycle
from relight.errors import Fault
from relight.project.files import EXTENSIONS, Files
from relight.project.marks import Document, Trail, written_in_a_command_line
from relight.project.variables import Variable, Variables, of_document
from relight.project.wording import did_you_mean, got, short

_SECTIONS = ("vars", "children", "hosts")
_NOT_SOURCES = ("group_vars", "host_vars", "vars_plugins", "presets")
_GROUP_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,240}")
_INI = re.compile(rb"\A(?:\s*(?:[#;][^\n]*)?\n)*\s*\[[^\[\]\n:]+(?::\w+)?\]\s*(?:\n|\Z)")


class Sources:
    """Takes inventory sources in, one after the other; later ones win over earlier ones."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.hosts: dict[str, None] = {}
        self.groups: dict[str, Group] = {name: Group(name) for name in (ALL, UNGROUPED)}
        self.host_variables: dict[str, Variables] = {}
        self.group_variables: dict[str, Variables] = {}
        self.places: dict[str, tuple[Document, Trail]] = {}
        self.directories: list[Path] = []
        self.named: list[str] = []
        """The sources: absolute paths, or the text of a list of hosts."""
        self.whole = True
        self._nests: dict[tuple[str, str], tuple[Document, Trail]] = {}

    def take(self, source: str) -> None:
        """Read one source: a path, or host names with a comma."""
        path = Path(source)
        exists = _exists(path)
        self.named.append(str(path.absolute()) if exists else source)
        if "," in source and not exists:
            document = written_in_a_command_line("--inventory", source)
            for name in filter(None, (part.strip() for part in source.split(","))):
                self._hosts(ALL, {name: None}, document, ())
        elif exists and path.is_dir():
            self.directories.append(path)
            self._directory(path)
        elif exists:
            self.directories.append(path.parent)
            self._file(path)
        else:
            self.whole = False
            what = "there is no such inventory"
            shown = short(self._files.shown(path), 200)
            self._files.add([Fault(shown, 0, 0, what, "name a file or a folder")])

    def inventory(self) -> Inventory | None:
        """Return hosts and groups, or None when groups lie in a circle (a fault)."""
        circle = cycle(self.groups)
        if circle:
            document, trail = self._nests[circle[-2], circle[-1]]
            what = f"these groups lie inside of each other: {' > '.join(circle)}"
            right = f"take {circle[-1]} out of the children of {circle[-2]}"
            self._files.add([document.fault(trail, what, right, key=True)])
            return None
        return Inventory(self.hosts, self.groups)

    def _directory(self, directory: Path) -> None:
        for path in self._files.entries(directory):
            if path.name.startswith(".") or path.name.endswith("~"):
                continue
            if path.is_dir():
                if path.name not in _NOT_SOURCES:
                    self._directory(path)
            elif path.suffix in EXTENSIONS or path.suffix == ".ini":
                self._file(path)

    def _file(self, path: Path) -> None:
        refusal = _not_yaml(path)
        if refusal is not None:
            self.whole = False
            self._files.add([Fault(self._files.shown(path), 0, 0, *refusal)])
            return
        document = self._files.mapping(path, "an inventory")
        if document is None:
            self.whole &= not self._files.broken(path)
            return
        hostvars = document.data.get("_meta", {})
        if isinstance(hostvars, dict):
            hostvars = hostvars.get("hostvars") or {}
        for name, group in document.data.items():
            if name != "_meta":
                self._group(name, group, document, (name,))
        for name in hostvars if isinstance(hostvars, dict) else ():
            self._host(str(name), document, ("_meta", "hostvars", name))

    def _group(self, name: Any, data: Any, document: Document, trail: Trail) -> str | None:
        if not isinstance(name, str) or not _GROUP_NAME.fullmatch(name):
            what = f"{short(repr(str(name)))} is no name of a group"
            right = "letters, digits, _, - and dots, beginning with a letter or digit"
            self._files.add([document.fault(trail, what, right, key=True)])
            return None
        self.groups.setdefault(name, Group(name))
        if isinstance(data, list):
            data = {"hosts": data}  # a dynamic inventory's short form of a group
        if data is not None and not isinstance(data, Mapping):
            what = f"the group {name} wants a mapping of vars, children and hosts, got {got(data)}"
            self._files.add([document.fault(trail, what)])
            return name
        for key, inside in (data or {}).items():
            where = (*trail, key)
            if key not in _SECTIONS:
                what = f"unknown key {short(repr(str(key)))} in the group {name}"
                right = did_you_mean(str(key), _SECTIONS, "a group has")
                self._files.add([document.fault(where, what, right, key=True)])
            elif inside is not None:
                take = {"vars": self._vars, "children": self._children, "hosts": self._hosts}[key]
                take(name, inside, document, where)
        return name

    def _vars(self, name: str, data: Any, document: Document, trail: Trail) -> None:
        if not self._is_mapping(data, document, trail, "vars"):
            return
        found, faults = of_document(document, trail)
        self._files.add(faults)
        priority = found.pop("ansible_group_priority", None)
        if priority is not None:
            try:
                self.groups[name].priority = int(priority.value)
            except (TypeError, ValueError):
                what = f"ansible_group_priority wants a whole number, got {got(priority.value)}"
                self._files.add([priority.fault(what)])
        self.group_variables.setdefault(name, {}).update(found)

    def _children(self, name: str, data: Any, document: Document, trail: Trail) -> None:
        for child, inside, where in self._entries(data, document, trail, "children"):
            named = self._group(child, inside, document, where)
            if named in (ALL, name):
                what = f"the group {named} cannot lie inside of {name}"
                self._files.add([document.fault(where, what, key=True)])
            elif named is not None:
                self.groups[name].children[named] = None
                self._nests.setdefault((name, named), (document, where))

    def _hosts(self, name: str, data: Any, document: Document, trail: Trail) -> None:
        for host, _, where in self._entries(data, document, trail, "hosts"):
            for one in self._host(str(host), document, where):
                self.groups[name].hosts[one] = None

    def _host(self, written: str, document: Document, trail: Trail) -> tuple[str, ...]:
        try:
            names, port = expand(written)
        except ValueError as error:
            self._files.add([document.fault(trail, str(error), key=True)])
            return ()
        said: Any = document.data
        for key in trail:
            said = said[key] if isinstance(said, Mapping) else None
        if not trail or str(trail[-1]) != written:
            said = None  # the host is only named here: hosts: box
        found: Variables = {}
        if isinstance(said, Mapping):
            found, faults = of_document(document, trail)
            self._files.add(faults)
        elif said is not None:
            what = f"the host {short(written)} wants a mapping of variables, got {got(said)}"
            self._files.add([document.fault(trail, what)])
        for name in names:
            self.hosts[name] = None
            self.places.setdefault(name, (document, trail))
            own = self.host_variables.setdefault(name, {})
            if port is not None:
                own["ansible_port"] = Variable(port, document, trail)
            own.update(found)
        return names

    def _entries(
        self, data: Any, document: Document, trail: Trail, what: str
    ) -> list[tuple[Any, Any, Trail]]:
        """Return (name, content, trail) of a section: a mapping, a list of names, or one name."""
        if isinstance(data, str):
            return [(data, None, trail)]
        if isinstance(data, list):
            return [(name, None, (*trail, index)) for index, name in enumerate(data)]
        if self._is_mapping(data, document, trail, what):
            return [(name, inside, (*trail, name)) for name, inside in data.items()]
        return []

    def _is_mapping(self, data: Any, document: Document, trail: Trail, what: str) -> bool:
        if not isinstance(data, Mapping):
            says = f"{what} wants a mapping, got {got(data)}"
            self._files.add([document.fault(trail, says, "write each name with a colon behind it")])
        return isinstance(data, Mapping)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False  # too long a name, or a folder that may not be entered


def _not_yaml(path: Path) -> tuple[str, str] | None:
    try:
        with path.open("rb") as file:
            begin = file.read(4096)
    except OSError:
        return None  # the reader says why
    if begin.startswith(b"#!") or (os.access(path, os.X_OK) and path.suffix == ""):
        right = "save its output: ansible-inventory -i SCRIPT --list > hosts.json"
        return "is a script, and inventory scripts are not run", right
    if path.suffix == ".ini" or _INI.match(begin):
        right = "convert it: ansible-inventory -i FILE --list --yaml > hosts.yml"
        return "is an INI inventory; only YAML and JSON are read", right
    return None
