"""Names in a playbook that nothing defines: variables, handlers, source files; found beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from relight.core.language.playbook import Block, Node, Play, Task
from relight.core.language.template_names import needed
from relight.core.language.templating import is_template
from relight.errors import Fault
from relight.project.marks import Document, Trail
from relight.project.playbook_search import find_source
from relight.project.playbook_uses import Definition, Source, Use
from relight.project.wording import did_you_mean

MAGIC = frozenset({
    "inventory_hostname", "inventory_hostname_short", "group_names", "groups", "hostvars",
    "play_hosts", "playbook_dir", "inventory_dir", "inventory_file", "omit", "environment",
    "item", "lookup", "query", "q", "range", "dict", "cycler", "joiner", "namespace", "vars",
    "role_name", "now", "undef",
})  # fmt: skip


def undefined(
    uses: Iterable[Use],
    plays: Iterable[Play],
    included: Iterable[Node],
    known: Iterable[str],
    written: Iterable[Definition],
) -> list[Fault]:
    """Return a fault for every variable that no level can define.

    A variable that is written in one place only is followed to what its own template needs.
    Nothing is said where a file that is only known later may define it.
    """
    names = {*MAGIC, *known}
    nodes: list[Node] = [*included]
    for play in plays:
        if any(file.values is None for file in play.vars_files):
            return []
        nodes += (*play.pre_tasks, *play.tasks, *play.post_tasks, *play.handlers)
    for task in tasks(nodes):
        if task.module == "include_tasks" and is_template(task.args.get("file")):
            return []
        if task.module == "set_fact" and any(is_template(name) for name in task.args):
            return []
        names |= set(_defined(task))
    looked = _Looked(names, written)
    return [fault for use in uses for fault in looked.faults(use)]


class _Looked:
    """Names that are defined somehow, and the places of those that are written down."""

    def __init__(self, names: set[str], written: Iterable[Definition]) -> None:
        self._open = names
        self._written: dict[str, list[Definition]] = {}
        for definition in written:
            self._written.setdefault(definition.name, []).append(definition)
        self._followed: set[str] = set()

    def faults(self, use: Use) -> Iterator[Fault]:
        """Return a fault for every name that a value needs and nothing defines."""
        for trail, text in _texts(use.value, use.trail):
            if not (use.expression or is_template(text)):
                continue
            bare = use.expression and not is_template(text)
            for name in sorted(needed(text, expression=bare) - self._open):
                yield from self._name(name, use.document, trail)

    def _name(self, name: str, document: Document, trail: Trail) -> Iterator[Fault]:
        places = self._written.get(name)
        if places is None and not name.startswith("ansible_"):
            known = (self._open | set(self._written)) - MAGIC
            advice = did_you_mean(name, known, "defined")
            yield document.fault(trail, f"nothing defines the variable {name!r}", advice)
        elif places is not None and len(places) == 1 and name not in self._followed:
            self._followed.add(name)
            only = places[0]
            if isinstance(only.value, str):
                yield from self.faults(Use(only.document, only.trail, only.value))


def _texts(value: Any, trail: Trail) -> Iterator[tuple[Trail, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*trail, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*trail, index))
    elif isinstance(value, str):
        yield trail, value


def missing_sources(
    sources: Iterable[Source], folders: Iterable[Path], shipped: Path
) -> list[Fault]:
    """Return a fault for every file that a task sends for sure and that is not there."""
    found = []
    for source in sources:
        places = (Path(source.folder), *folders)
        everywhere = (*places, shipped) if source.kind == "templates" else places
        if find_source(source.name, source.kind, everywhere) is None:
            near = sorted({
                path.name
                for place in places
                for path in (*place.glob("*"), *place.glob(f"{source.kind}/*"))
                if path.is_file()
            })  # fmt: skip
            advice = did_you_mean(source.name, near, "files here")
            what = f"there is no file {source.name!r}"
            found.append(source.document.fault(source.trail, what, advice))
    return found


def unknown_handlers(notifies: Iterable[Use], handlers: Iterable[Task]) -> list[Fault]:
    """Return a fault for every handler that is notified and not there.

    Nothing is said where names are templates, or handlers come from a file that is read later.
    """
    listed = list(handlers)
    names = {name for task in listed for name in (task.name, *task.listens)}
    if any(is_template(name) for name in names) or any(t.module == "include_tasks" for t in listed):
        return []
    faults = []
    for use in notifies:
        for index, name in enumerate(use.value if isinstance(use.value, list) else [use.value]):
            if not is_template(name) and str(name) not in names:
                trail = (*use.trail, index) if isinstance(use.value, list) else use.trail
                advice = did_you_mean(str(name), sorted(names), "handlers of this play")
                what = f"no handler has the name or listens to {str(name)!r}"
                faults.append(use.document.fault(trail, what, advice))
    return faults


def tasks(nodes: Iterable[Node]) -> Iterator[Task]:
    """Return all tasks, blocks opened."""
    for node in nodes:
        if isinstance(node, Block):
            yield from tasks((*node.block, *node.rescue, *node.always))
        else:
            yield node


def _defined(task: Task) -> Iterator[str]:
    keywords = task.keywords
    if "register" in keywords:
        yield str(keywords["register"])
    if task.module == "set_fact":
        yield from task.args
    control = keywords.get("loop_control") or {}
    for name in ("loop_var", "index_var"):
        if name in control:
            yield str(control[name])
