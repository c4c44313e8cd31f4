"""Files of tasks that a play includes as it runs: which hosts include what, and with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relight.core.language.playbook import Inherited, Node, Task
from relight.errors import InputFaults
from relight.executor.catalog import Modules
from relight.executor.hosts import Host
from relight.executor.result import Included, TaskResult
from relight.executor.settings import Run
from relight.executor.variables import Batch
from relight.project.playbooks import load_tasks


def grouped(
    hosts: Sequence[Host], results: Sequence[TaskResult]
) -> list[tuple[Included, list[Host]]]:
    """Return each file once, with the hosts that include it with the same values."""
    groups: list[tuple[Included, list[Host]]] = []
    for host, result in zip(hosts, results, strict=True):
        for included in result.included:
            for other, members in groups:
                if included == other and host not in members:
                    members.append(host)
                    break
            else:
                groups.append((included, [host]))
    return groups


def load(run: Run, batch: Batch, task: Task, included: Included) -> tuple[Node, ...] | str:
    """Return the tasks of an included file, or what is wrong with it."""
    own = task.keywords.get("vars")
    outer: Inherited = task.outside.under(included.apply)
    outer = replace(
        outer,
        variables=outer.variables + ((own,) if own else ()),
        include=outer.include + ((own,) if own else ()),
        fixed=outer.fixed + ((included.loop,) if included.loop else ()),
    )
    folder = task.folder or batch.play.folder
    try:
        nodes = load_tasks(
            run.settings.project, included.file, folder, outer, Modules(), handler=task.handler
        )
    except InputFaults as faults:
        return str(faults)
    return f"there is no file {included.file!r}" if nodes is None else nodes
