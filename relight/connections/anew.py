"""A connection that is opened anew, in the background, before somebody asks for it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future

from relight.connections import Connection
from relight.errors import RelightError


class Anew:
    """One new connection to a host with its shell; `open_one` opens the connection.

    Whoever takes it closes it. Thread-safe.
    """

    def __init__(self, open_one: Callable[[], Connection]) -> None:
        self._open_one = open_one
        self._lock = threading.Lock()
        self._coming: Future[Connection] | None = None

    def begin(self) -> None:
        """Begin to open one, in place of one that nobody took.

        What goes wrong is told to the one who takes it.
        """
        self.close()
        with self._lock:
            self._coming = _in_background(self._open_one)

    def take(self) -> Connection:
        """Return it, opened now where nobody began; raises `Unreachable`."""
        coming = self._given_up()
        return self._open_one() if coming is None else coming.result()

    def close(self) -> None:
        """Close what nobody took, as soon as it is there."""
        coming = self._given_up()
        if coming is not None:
            coming.add_done_callback(_closed)

    def _given_up(self) -> Future[Connection] | None:
        with self._lock:
            coming, self._coming = self._coming, None
        return coming


def _in_background(open_one: Callable[[], Connection]) -> Future[Connection]:
    coming: Future[Connection] = Future()

    def run() -> None:
        try:
            coming.set_result(_with_shell(open_one()))
        except BaseException as error:  # noqa: BLE001  it is raised where the connection is taken
            coming.set_exception(error)

    # A daemon: a host that does not answer must not keep the program from ending.
    threading.Thread(target=run, name="anew", daemon=True).start()
    return coming


def _with_shell(opened: Connection) -> Connection:
    """Return it with its shell open, which takes a round trip of its own."""
    try:
        opened.control(":")
    except BaseException:
        opened.close()
        raise
    return opened


def _closed(coming: Future[Connection]) -> None:
    with contextlib.suppress(RelightError, TimeoutError):
        coming.result().close()
