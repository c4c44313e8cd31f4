"""The command that runs any playbook, with Ansible's options."""

from __future__ import annotations

from invoke.context import Context
from invoke.tasks import task

from relight.commands.shared import Command, leave, options


@task(
    klass=Command,
    iterable=["inventory", "extra_vars", "tags", "skip_tags"],
    help={
        "playbook": "a playbook file, or the name of one under playbooks/",
        "inventory": "inventory file or folder, may be repeated; default: inventory/",
        "extra-vars": "key=value, JSON or @file, may be repeated; wins over everything",
        "limit": "a pattern: only these hosts",
        "tags": "only tasks with these tags, may be repeated",
        "skip-tags": "no tasks with these tags, may be repeated",
        "check": "change nothing, say what would change",
        "diff": "show what changes in files",
        "list-tasks": "only list the tasks",
        "list-hosts": "only list the hosts",
        "forks": "how many hosts at once",
        "json": "print events as JSON Lines (docs/events.md)",
    },
)
def play(
    _: Context,
    playbook: str = "",
    inventory: list[str] = [],
    extra_vars: list[str] = [],
    limit: str = "",
    tags: list[str] = [],
    skip_tags: list[str] = [],
    check: bool = False,
    diff: bool = False,
    list_tasks: bool = False,
    list_hosts: bool = False,
    forks: int = 32,
    json: bool = False,
) -> None:
    """Run a playbook; the recap is Ansible's, and so are the exit codes that it has."""
    from relight.cli.play import Playing, play_file  # noqa: PLC0415 - start-up time

    playing = Playing(
        playbook=playbook,
        limit=limit,
        tags=tuple(tags),
        skip_tags=tuple(skip_tags),
        check=check,
        diff=diff,
        list_tasks=list_tasks,
        list_hosts=list_hosts,
        forks=forks,
    )
    leave(lambda: play_file(options(inventory, extra_vars, as_json=json), playing))


COMMANDS = (play,)
