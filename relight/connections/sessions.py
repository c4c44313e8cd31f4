"""The session channels of one transport: one is opened ahead, so that a command need not wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue

import paramiko
import tenacity

_FRESH = 60.0
"""Seconds that a channel may wait for its use: servers can be told to close idle ones."""
_FREED = 1.0
"""Seconds within which a server lets go of a session whose channel was closed just now."""
_NO_ROOM = paramiko.ChannelException


@dataclass
class _Ahead:
    """A channel that is being opened, and what came of it."""

    known: threading.Event = field(default_factory=threading.Event)
    channel: paramiko.Channel | None = None
    error: Exception | None = None
    opened: float = 0.0

    def usable(self) -> paramiko.Channel | None:
        """Return the channel, or None where another one has to be opened."""
        channel = self.channel
        if channel is None or channel.closed or channel.eof_received:
            return None
        if time.monotonic() - self.opened > _FRESH:
            channel.close()
            return None
        return channel


class Sessions:
    """Opens session channels, each within `timeout` seconds.

    At most one is open that nobody uses. Whoever needs one has that one first, so a server's
    MaxSessions is used up no earlier than without it; a server without room for it is asked once.
    """

    def __init__(self, transport: paramiko.Transport, timeout: float) -> None:
        self._transport, self._timeout = transport, timeout
        self._lock = threading.Lock()
        self._next: _Ahead | None = None
        self._wanted: SimpleQueue[_Ahead | None] = SimpleQueue()
        self._begun = self._over = False

    def take(self, counted: Callable[[], None]) -> paramiko.Channel:
        """Return an open channel; `counted` is called for a wait. Raises what paramiko raises."""
        with self._lock:
            ahead, self._next = self._next, None
        if ahead is not None:
            if not ahead.known.is_set():
                counted()
                ahead.known.wait()
                if ahead.error is not None and not isinstance(ahead.error, _NO_ROOM):
                    raise ahead.error
            channel = ahead.usable()
            if channel is not None:
                return channel
        again = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_NO_ROOM),
            stop=tenacity.stop_after_delay(_FREED),
            wait=tenacity.wait_fixed(0.05),
            reraise=True,
        )
        return again(self._opened, counted)

    @property
    def ready(self) -> bool:
        """Whether the next channel would be had without a wait."""
        ahead = self._next
        return ahead is not None and ahead.known.is_set() and ahead.channel is not None

    def open_ahead(self) -> None:
        """Open the next channel, unless there is one; nobody waits for it here."""
        with self._lock:
            if self._over or self._next is not None:
                return
            self._next = _Ahead()
            if not self._begun:
                self._begun = True
                threading.Thread(target=self._open, name="relight-ahead", daemon=True).start()
            self._wanted.put(self._next)

    def close(self) -> None:
        """Open no further channel ahead; the transport's end ends the one that is open."""
        with self._lock:
            self._over = True
            self._wanted.put(None)

    def _opened(self, counted: Callable[[], None]) -> paramiko.Channel:
        counted()
        return self._transport.open_session(timeout=self._timeout)

    def _open(self) -> None:
        while (ahead := self._wanted.get()) is not None:
            try:
                ahead.channel = self._transport.open_session(timeout=self._timeout)
            except Exception as error:  # noqa: BLE001  it is raised where somebody waits for it
                ahead.error = error
                self._over = self._over or isinstance(error, _NO_ROOM)
            ahead.opened = time.monotonic()
            ahead.known.set()
