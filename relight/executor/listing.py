"""What a run would do, in Ansible's words: `--list-tasks` and `--list-hosts`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from relight.core.language.playbook import Inherited, Play, Playbook, split_tags, wanted
from relight.core.language.templating import Templar
from relight.project import Project
from relight.project.playbook_names import tasks


def listing(
    playbook: Playbook,
    project: Project,
    *,
    hosts: bool = False,
    task_names: bool = False,
    limit: str | None = None,
    tags: Collection[str] = ("all",),
    skip_tags: Collection[str] = (),
    extra_vars: Mapping[str, Any] = {},
) -> str:
    """Return the plays with their hosts, their tasks, or both; no host is contacted.

    Raises UsageError for a limit that means nothing.
    """
    allowed = None if limit is None else frozenset(project.hosts(limit))
    lines = ["", f"playbook: {playbook.path}"]
    for number, play in enumerate(playbook.plays, start=1):
        pattern = str(Templar({**play.variables, **extra_vars}).render(play.hosts))
        own = ", ".join(sorted(split_tags(play.keywords.get("tags"))))
        lines += ["", f"  play #{number} ({pattern}): {play.name}\tTAGS: [{own}]"]
        if hosts:
            names = [n for n in _hosts(project, pattern) if allowed is None or n in allowed]
            lines += [f"    pattern: [{pattern!r}]", f"    hosts ({len(names)}):"]
            lines += [f"      {name}" for name in names]
        if task_names:
            lines += ["    tasks:", *_tasks(play, tags, skip_tags)]
    return "\n".join([*lines, ""])


def _hosts(project: Project, pattern: str) -> tuple[str, ...]:
    return project.hosts(pattern, []) or (("localhost",) if pattern == "localhost" else ())


def _tasks(play: Play, tags: Collection[str], skip: Collection[str]) -> Iterator[str]:
    for task in tasks((*play.pre_tasks, *play.tasks, *play.post_tasks)):
        inherited: Inherited = task.inherited
        if wanted(inherited.tags, tags, skip):
            shown = ", ".join(sorted(set(inherited.tags)))
            yield f"      {task.name}\tTAGS: [{shown}]"
