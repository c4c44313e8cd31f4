"""The same work on many hosts at once, interruptible: Ctrl-C says stop, a second one breaks off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

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
        futures = [_started(work, item) for item in some]
        _wait(run, futures)
        results += [
            future.result() if future.done() else given_up(item)
            for future, item in zip(futures, some, strict=True)
        ]
    return results


def _started(work: Callable[[Item], Result], item: Item) -> Future[Result]:
    future: Future[Result] = Future()

    def one() -> None:
        try:
            future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001  it is raised where the result is asked for
            future.set_exception(error)

    # a daemon: a command that never ends must not keep an interrupted program from ending
    threading.Thread(target=one, name="host", daemon=True).start()
    return future


def _wait(run: Run, futures: Sequence[Future[Result]]) -> None:
    while wait(futures, timeout=_TICK).not_done:
        if tell(run):
            if wait(futures, timeout=GRACE).not_done:
                for host in list(run.hosts.values()):
                    host.close()
            return
