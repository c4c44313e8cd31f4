"""The command that begins: lay a folder that works."""

from __future__ import annotations

from invoke.context import Context
from invoke.tasks import task

from relight.commands.shared import leave


@task(positional=["directory"], help={"directory": "where to lay inventory/ and playbooks/"})
def init(_: Context, directory: str) -> None:
    """Lay a folder that works: an inventory with a sandbox, presets, tasks.py."""
    from relight.cli.init import init as lay  # noqa: PLC0415 - start-up time

    leave(lambda: lay(directory))


COMMANDS = (init,)
