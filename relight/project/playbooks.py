"""Playbooks as written, into plays: everything is checked, all faults of all files come at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from relight.core.language.keywords import KEYWORDS, REFUSED, at
from relight.core.language.playbook import (
    Catalog,
    Inherited,
    Node,
    Origin,
    Play,
    Playbook,
    Task,
    VarsFile,
)
from relight.core.language.templating import is_template
from relight.errors import InputFaults
from relight.project import content
from relight.project.marks import Document, Key, Trail
from relight.project.playbook_files import Reader
from relight.project.playbook_names import missing_sources, undefined, unknown_handlers
from relight.project.playbook_search import find_tasks
from relight.project.playbook_tasks import Tasks, read_tasks
from relight.project.playbook_uses import definitions
from relight.project.playbook_values import Found, check, variables
from relight.project.wording import did_you_mean, got

SECTIONS = ("pre_tasks", "tasks", "post_tasks")
ORDERS = ("inventory", "reverse_inventory", "sorted", "reverse_sorted", "shuffle")


class Rooted(Protocol):
    """What has a folder to read from."""

    root: Path


def load_playbook(
    project: Rooted,
    path: Path,
    modules: Catalog | None = None,
    known: Iterable[str] | None = None,
) -> Playbook:
    """Return a playbook; raises InputFaults with every fault of every file that it reads.

    Modules and their arguments are checked when `modules` says which exist, variables when
    `known` says which the inventory and the command line define.
    """
    reader = Reader(project.root, modules)
    plays = _file(reader, path.absolute())
    faults = [fault for found in reader.found for fault in found.faults]
    if known is not None and not faults:
        faults += undefined(reader.uses, plays, reader.included, known, reader.written)
        folders = [path.absolute().parent, *(Path(play.folder) for play in plays), project.root]
        faults += missing_sources(reader.sources, folders, content.shipped())
    if faults:
        raise InputFaults(tuple(faults))
    return Playbook(str(path), tuple(plays))


def load_tasks(
    project: Rooted, name: str, folder: str, inherited: Inherited, modules: Catalog | None = None,
    *, handler: bool = False,
) -> tuple[Node, ...] | None:  # fmt: skip
    """Return the tasks of a file that a running play includes; None when there is no such file.

    Raises InputFaults.
    """
    path = find_tasks(name, Path(folder), project.root)
    if path is None:
        return None
    reader = Reader(project.root, modules)
    nodes = read_tasks(reader, path, inherited, handler=handler)
    faults = [fault for found in reader.found for fault in found.faults]
    if faults:
        raise InputFaults(tuple(faults))
    return nodes


def load_vars(project: Rooted, name: str, folder: str) -> Mapping[str, Any] | None:
    """Return a file of variables, as written; None when there is none. Raises InputFaults."""
    path = _vars_path(name, Path(folder))
    if path is None:
        return None
    reader = Reader(project.root, None)
    document = reader.document(path)
    return _values(reader.found_in(document), document)


def _file(reader: Reader, path: Path) -> list[Play]:
    document = reader.document(path)
    found = reader.found_in(document)
    if not isinstance(document.data, list) or not document.data:
        found.add((), f"a playbook is a list of plays, got {got(document.data)}", "- hosts: ...")
        return []
    plays: list[Play] = []
    opened = replace(reader, open=(*reader.open, path))
    for index, item in enumerate(document.data):
        if not isinstance(item, Mapping):
            found.add((index,), f"a play is a mapping, got {got(item)}", "- hosts: ...")
        elif "import_playbook" in item or "ansible.builtin.import_playbook" in item:
            plays += _import(opened, found, item, (index,), path.parent)
        else:
            plays.append(_Play(opened, document, found, path.parent).read(item, (index,)))
    return plays


def _import(
    reader: Reader, found: Found, item: Mapping[Key, Any], trail: Trail, folder: Path
) -> list[Play]:
    name = item.get("import_playbook", item.get("ansible.builtin.import_playbook"))
    for key in item:
        if str(key).removeprefix("ansible.builtin.") not in ("import_playbook", "name", "tags"):
            advice = "set it in the imported plays"
            found.add((*trail, key), f"{key!r} does not stand beside import_playbook", advice,
                      key=True)  # fmt: skip
    path = folder / str(name)
    if not path.is_file():
        near = sorted(p.name for p in folder.glob("*.y*ml"))
        found.add(trail, f"there is no playbook {name!r}", did_you_mean(str(name), near, "here"))
        return []
    if path.absolute() in reader.open:
        found.add(trail, f"{name} imports itself")
        return []
    try:
        return _file(reader, path.absolute())
    except InputFaults as faults:
        found.faults += faults.faults
        return []


class _Play:
    """Reads one play."""

    def __init__(self, reader: Reader, document: Document, found: Found, folder: Path) -> None:
        self._reader, self._document, self._found = reader, document, found
        self._folder = folder

    def read(self, item: Mapping[Key, Any], trail: Trail) -> Play:
        keywords = {str(key): value for key, value in item.items()}
        for key, value in keywords.items():
            self._keyword(key, value, (*trail, key))
        hosts = item.get("hosts")
        if not hosts and "hosts" not in keywords:
            self._found.add(trail, "a play says where it runs", "add hosts: ...")
        pattern = ":".join(str(h) for h in hosts) if isinstance(hosts, list) else str(hosts or "")
        inherited = Inherited().under({k: v for k, v in keywords.items() if k != "vars"})
        tasks = Tasks(self._reader, self._document, self._found, self._folder)
        before = len(self._reader.notifies)
        sections = {
            name: tasks.nodes(item.get(name), (*trail, name), inherited) for name in SECTIONS
        }
        handlers = tasks.nodes(item.get("handlers"), (*trail, "handlers"), inherited, handler=True)
        notifies = self._reader.notifies[before:]
        self._found.faults += unknown_handlers(notifies, _flat(handlers))
        variables = item.get("vars")
        self._reader.written += definitions(self._document, (*trail, "vars"), variables)
        return Play(
            name=str(item.get("name") or pattern),
            hosts=pattern,
            keywords={k: v for k, v in keywords.items() if k not in (*SECTIONS, "handlers")},
            variables=variables if isinstance(variables, Mapping) else {},
            vars_files=tuple(self._vars_files(item.get("vars_files"), (*trail, "vars_files"))),
            handlers=tuple(_flat(handlers)),
            origin=Origin(self._document.path, *self._document.value_at(trail)),
            folder=str(self._folder),
            **sections,
        )

    def _keyword(self, key: str, value: Any, trail: Trail) -> None:
        keyword = KEYWORDS.get(key)
        if key in REFUSED:
            self._found.add(trail, f"{key!r} is Ansible's, not relight's", REFUSED[key], key=True)
        elif keyword is None or "play" not in keyword.places:
            advice = did_you_mean(key, at("play"), "known")
            what = f"unknown keyword {key!r} of a play"
            if keyword is not None:
                what, advice = f"{key!r} does not stand in a play", "move it to a task"
            self._found.add(trail, what, advice, key=True)
        else:
            check(self._found, keyword.kind, value, trail)
            if key == "strategy" and value != "linear":
                self._found.add(trail, "relight has the strategy linear only", "remove it")
            if key == "order" and value not in ORDERS:
                self._found.add(
                    trail, f"no such order: {got(value)}", f"one of {', '.join(ORDERS)}"
                )

    def _vars_files(self, value: Any, trail: Trail) -> list[VarsFile]:
        entries: list[VarsFile] = []
        for index, entry in enumerate(value if isinstance(value, list) else [value]):
            if entry is None:
                continue
            names = tuple(str(n) for n in (entry if isinstance(entry, list) else [entry]))
            where = (*trail, index) if isinstance(value, list) else trail
            if any(is_template(name) for name in names):
                entries.append(VarsFile(names))
            else:
                entries.append(VarsFile(names, self._vars_file(names, where)))
        return entries

    def _vars_file(self, names: tuple[str, ...], trail: Trail) -> Mapping[str, Any]:
        for name in names:
            path = _vars_path(name, self._folder)
            if path is not None:
                try:
                    document = self._reader.document(path)
                except InputFaults as faults:
                    self._found.faults += faults.faults
                    return {}
                self._reader.written += definitions(document, (), document.data)
                return _values(self._reader.found_in(document), document)
        if len(names) == 1:
            near = sorted(p.name for p in self._folder.glob("*.y*ml"))
            advice = did_you_mean(names[0], near, "files here")
            self._found.add(trail, f"there is no file {names[0]!r}", advice)
        return {}


def _vars_path(name: str, folder: Path) -> Path | None:
    for base in (folder / "vars", folder):
        if (base / name).is_file():
            return base / name
    return None


def _values(found: Found, document: Document) -> Mapping[str, Any]:
    if document.data is None:
        return {}
    if not isinstance(document.data, Mapping):
        found.add((), f"variables are a mapping, got {got(document.data)}", "write `name: value`")
        return {}
    variables(found, document.data, ())
    for key, value in document.data.items():
        check(found, "any", value, (key,))
    return {str(key): value for key, value in document.data.items()}


def _flat(nodes: tuple[Node, ...]) -> list[Task]:
    tasks: list[Task] = []
    for node in nodes:
        tasks += [node] if isinstance(node, Task) else _flat(node.block)
    return tasks
