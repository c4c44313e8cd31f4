"""The commands, as Invoke tasks: flags in, one call, exit code out; `inv` and `relight` alike."""

from __future__ import annotations

from invoke.collection import Collection
from invoke.program import Program

from relight import __version__
from relight.commands import (
    deploying,
    diagnosing,
    looking,
    measuring,
    playing,
    rehearsing,
    starting,
)


def namespace() -> Collection:
    """Return all commands of relight as one flat collection."""
    collection = Collection()
    for module in (deploying, looking, diagnosing, measuring, playing, rehearsing, starting):
        for command in module.COMMANDS:
            collection.add_task(command)
    return collection


def main() -> None:
    """Run the `relight` program: Invoke over the same tasks, for any folder."""
    Program(name="relight", binary="relight", version=__version__, namespace=namespace()).run()
