"""The commands, as Invoke tasks: flags in, one call, exit code out; `inv` and `relight` alike."""

from __future__ import annotations

import sys

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
    _keep_bytecode()
    collection = Collection()
    for module in (deploying, looking, diagnosing, measuring, playing, rehearsing, starting):
        for command in module.COMMANDS:
            collection.add_task(command)
    return collection


class _Program(Program):
    """Invoke's program, which turns the cache of bytecode off when it has read its own options."""

    def parse_core(self, argv: list[str] | None) -> None:
        """Read Invoke's own options."""
        super().parse_core(argv)
        _keep_bytecode()


def _keep_bytecode() -> None:
    """Cache bytecode as Python was told to: else each start compiles anew all that it imports."""
    sys.dont_write_bytecode = bool(sys.flags.dont_write_bytecode)


def main() -> None:
    """Run the `relight` program: Invoke over the same tasks, for any folder."""
    _Program(name="relight", binary="relight", version=__version__, namespace=namespace()).run()
