"""The testbed as invoke tasks: `inv testbed.up 2`, `inv testbed.cut 1`, `inv testbed.down`."""

from __future__ import annotations

from typing import Any

from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import Task

from tests.testbed.cli import ON_ONE, main

_NAME = {"name": "which testbed (several can be up)"}


def _run(name: str, *words: str) -> None:
    """Do what the testbed's own command line does; raise Exit where it cannot."""
    code = main(["--name", name, *words])
    if code:
        raise Exit(code=code)


def _up(_: Context, count: str, name: str = "default") -> None:
    """Make and boot hosts until there are COUNT, and say how to reach them (needs root)."""
    _run(name, "up", count)


def _down(_: Context, name: str = "default") -> None:
    """Remove the hosts and their network."""
    _run(name, "down")


def _status(_: Context, name: str = "default") -> None:
    """Show the hosts: address, power, link, whether they answer."""
    _run(name, "status")


def _on_one(command: str, text: str) -> Task[Any]:
    def body(_: Context, number: str, name: str = "default") -> None:
        _run(name, command, number)

    body.__doc__ = f"{text[:1].upper()}{text[1:]}."
    return Task(body, name=command, positional=("number",), help=_NAME)


def collection() -> Collection:
    """Return the tasks under the name `testbed`."""
    found = Collection("testbed")
    found.add_task(Task(_up, name="up", positional=("count",), help=_NAME))
    found.add_task(Task(_down, name="down", help=_NAME))
    found.add_task(Task(_status, name="status", help=_NAME))
    for command, (text, _) in ON_ONE.items():
        found.add_task(_on_one(command, text))
    return found
