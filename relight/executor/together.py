"""The same work on many hosts at once, interruptible: Ctrl-C says stop, a second one breaks off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

from relight.core.events import Note
from relight.executor.settings import Run

_GRACE = 10.0
"""Seconds that running tasks have to end by themselves after the operator said stop."""
Item = TypeVar("Item")
Result = TypeVar("Result")


def together(
    run: Run, items: Sequence[Item], work: Callable[[Item], Result], most: int = 0
) -> list[Result]:
    """Return the results in the order of the items, at most `most` at a time (0: all forks)."""
    results: list[Result] = []
    step = most if most > 0 else len(items)
    for start in range(0, len(items), step or 1):
        futures = [run.pool.submit(work, item) for item in items[start : start + step]]
        _wait(run, futures)
        results += [future.result() for future in futures]
    return results


def _wait(run: Run, futures: Sequence[Future[Result]]) -> None:
    try:
        wait(futures)
    except KeyboardInterrupt:
        first = not run.stop.is_set()
        run.stop.set()
        if not first:
            _break_off(run)
            raise
        text = "interrupted: running tasks are told, `always` follows; once more to break off"
        run.settings.report(Note(level="warning", text=text))
        try:
            _, running = wait(futures, timeout=_GRACE)
            if running:
                _break_off(run)
                wait(futures, timeout=_GRACE)
        except KeyboardInterrupt:
            _break_off(run)
            raise


def _break_off(run: Run) -> None:
    for host in list(run.hosts.values()):
        host.close()
