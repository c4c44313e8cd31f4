"""The commands, as Invoke tasks: flags in, one call, exit code out; `inv` and `relight` alike."""

from __future__ import annotations

import atexit
import gc
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

_GARBAGE = 50_000
"""Objects made and not let go of, until Python looks for cycles among them; its own is 700."""


def namespace() -> Collection:
    """Return all commands of relight as one flat collection."""
    _start_fast()
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
        _start_fast()


def _start_fast() -> None:
    """Cache bytecode as Python was told to, and look for cyclic garbage less often.

    Else each start compiles anew all that it imports, looks through it a hundred times, and once
    more at the end, for a tenth of the time that a short command takes.
    """
    gc.set_threshold(_GARBAGE)
    atexit.register(gc.freeze)
    sys.dont_write_bytecode = bool(sys.flags.dont_write_bytecode)


def main() -> None:
    """Run the `relight` program: Invoke over the same tasks, for any folder."""
    _Program(name="relight", binary="relight", version=__version__, namespace=namespace()).run()
