"""Names in a playbook that nothing defines: variables, handlers, source files; found beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from relight.core.language.playbook import Block, Node, Play, Task
from relight.core.language.template_names import needed
from relight.core.language.templating import is_template
from relight.errors import Fault
from relight.project.marks import Document, Trail
from relight.project.wording import did_you_mean

MAGIC = frozenset({
    "inventory_hostname", "inventory_hostname_short", "group_names", "groups", "hostvars",
    "play_hosts", "playbook_dir", "inventory_dir", "inventory_file", "omit", "environment",
    "item", "lookup", "query", "q", "range", "dict", "cycler", "joiner", "namespace", "vars",
    "role_name", "now", "undef",
})  # fmt: skip


@dataclass(frozen=True)
class Use:
    """A task's value that is rendered for sure whenever the play gets there."""

    document: Document
    trail: Trail
    value: Any


def undefined(
    uses: Iterable[Use], plays: Iterable[Play], included: Iterable[Node], known: Iterable[str]
) -> list[Fault]:
    """Return a fault for every variable that no level can define.

    Nothing is said where a file that is only known later may define it.
    """
    names = {*MAGIC, *known}
    nodes: list[Node] = [*included]
    for play in plays:
        if any(file.values is None for file in play.vars_files):
            return []
        names |= {*play.variables, *(n for file in play.vars_files for n in file.values or {})}
        nodes += (*play.pre_tasks, *play.tasks, *play.post_tasks, *play.handlers)
    for task in tasks(nodes):
        if task.module == "include_tasks" and is_template(task.args.get("file")):
            return []
        if task.module == "set_fact" and any(is_template(name) for name in task.args):
            return []
        names |= set(_defined(task))
    return [fault for use in uses for fault in _faults(use, use.value, use.trail, names)]


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
    for values in (*task.inherited.variables, keywords.get("vars") or {}):
        yield from values
    if "register" in keywords:
        yield str(keywords["register"])
    if task.module == "set_fact":
        yield from task.args
    control = keywords.get("loop_control") or {}
    for name in ("loop_var", "index_var"):
        if name in control:
            yield str(control[name])


def _faults(use: Use, value: Any, trail: Trail, names: set[str]) -> Iterator[Fault]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _faults(use, item, (*trail, key), names)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(use, item, (*trail, index), names)
    elif is_template(value):
        for name in sorted(needed(value) - names):
            if not name.startswith("ansible_"):
                advice = did_you_mean(name, names - MAGIC, "defined")
                yield use.document.fault(trail, f"nothing defines the variable {name!r}", advice)
