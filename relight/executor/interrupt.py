"""Ctrl-C during a run: the first says stop, a second one breaks off."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from relight.core.events import Note
from relight.executor.settings import Run

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def heard(run: Run) -> Iterator[None]:
    """Take Ctrl-C, SIGTERM and the end of the terminal as the wish to stop, wherever they strike.

    An exception in the middle of anything would skip `always`; so the first only says stop, and
    the second is a KeyboardInterrupt. A signal that is ignored (nohup) stays ignored.
    """

    def stop(*_: object) -> None:
        if run.stopped():
            raise KeyboardInterrupt
        run.stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    taken = {number: old for number, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in taken:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, old in taken.items():
            signal.signal(number, old)


def tell(run: Run) -> bool:
    """Say once that the operator said stop, and end what is brief; whether it was said now."""
    if run.told or not run.stopped():
        return False
    run.told = True
    text = "interrupted: running tasks are told, `always` follows; once more to break off"
    run.settings.report(Note(level="warning", text=text))
    for host in [host for host in run.hosts.values() if host.brief]:
        host.end()
    return True
