"""The same work on many hosts at once, interruptible: Ctrl-C says stop, a second one breaks off."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from relight.executor.interrupt import tell
from relight.executor.settings import Run

GRACE = 10.0
"""Seconds that running tasks have to end by themselves after the operator said stop."""
_TICK = 0.1
Item = TypeVar("Item")
Result = TypeVar("Result")


def together(
    run: Run,
    items: Sequence[Item],
    work: Callable[[Item], Result],
    given_up: Callable[[Item], Result],
    most: int = 0,
) -> list[Result]:
    """Return the results in the order of the items, at most `most` at a time (0: all forks).

    An interrupted item that does not end in time has the result that `given_up` says; its thread
    is left behind.
    """
    results: list[Result] = []
    step = min(most or run.settings.forks, run.settings.forks)
    for start in range(0, len(items), step):
        some = items[start : start + step]
        ends: _Ends[Result] = _Ends(len(some))
        for index, item in enumerate(some):
            run.workers.start(functools.partial(_end, ends, index, work, item))
        _wait(run, ends)
        results += [
            ends.known[index]() if index in ends.known else given_up(item)
            for index, item in enumerate(some)
        ]
    return results


@dataclass
class _Ends(Generic[Result]):
    """How some items ended: each as a function that returns the result, or raises."""

    count: int
    coming: SimpleQueue[tuple[int, Callable[[], Result]]] = field(default_factory=SimpleQueue)
    known: dict[int, Callable[[], Result]] = field(default_factory=dict)

    def all(self, wait: float) -> bool:
        """Return whether all items ended, within `wait` seconds."""
        deadline = time.monotonic() + wait
        while len(self.known) < self.count:
            try:
                index, end = self.coming.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                return False
            self.known[index] = end
        return True


def _end(
    ends: _Ends[Result], index: int, work: Callable[[Item], Result], item: Item
) -> Callable[[], None]:
    try:
        result = work(item)
    except BaseException as raised:  # noqa: BLE001  it is raised where the result is asked for
        error = raised

        def end() -> Result:
            raise error

        return lambda: ends.coming.put((index, end))
    return lambda: ends.coming.put((index, lambda: result))


def _wait(run: Run, ends: _Ends[Result]) -> None:
    while not ends.all(_TICK):
        if tell(run):
            if not ends.all(GRACE):
                for host in list(run.hosts.values()):
                    host.close()
                ends.all(0)
            return
