"""Our own TCP socket under SSH: tuned, every wait limited, and aware of when the peer was heard."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable
from typing import Any

_QUIET_TICKS = 20


class Wire:
    """A socket (or a channel of a gateway) that remembers when bytes last came from the peer."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.heard = 0
        """Pieces that have come so far."""

    def recv(self, size: int) -> bytes:
        """Receive, and remember it."""
        piece: bytes = self._inner.recv(size)
        self.heard += bool(piece)
        return piece

    @property
    def ended(self) -> bool:
        """Whether the peer has closed it, and that is all that is left to read."""
        wire = self._inner
        if not isinstance(wire, socket.socket):
            return False
        try:
            poll = select.poll()
            poll.register(wire, select.POLLIN)
            return bool(poll.poll(0)) and wire.recv(1, socket.MSG_PEEK) == b""
        except TimeoutError:  # somebody else read it meanwhile
            return False
        except (OSError, ValueError):
            return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def dial(host: str, port: int, timeout: float) -> socket.socket:
    """Open a TCP connection; `timeout` seconds limit the name's resolution and each address.

    Raises OSError: socket.gaierror when the name does not resolve, TimeoutError when late.
    """
    last: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, place in _resolved(host, port, timeout):
        wire = socket.socket(family, kind, protocol)
        try:
            _tune(wire, timeout)
            wire.settimeout(timeout)
            wire.connect(place)
        except OSError as error:
            wire.close()
            last = error
        else:
            return wire
    raise last


def _tune(wire: socket.socket, timeout: float) -> None:
    # Two small writes in a row, as SSH makes them, cost 40 ms with Nagle's algorithm.
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", max(1, int(timeout))),
        ("TCP_KEEPINTVL", max(1, int(timeout / 2))),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", int(timeout * 2000)),
    ):
        if hasattr(socket, option):
            wire.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def _resolved(host: str, port: int, timeout: float) -> list[Any]:
    """Resolve in a thread of its own: a resolver has no limit that a caller can set."""
    found: list[Any] = []
    failed: list[OSError] = []

    def look() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            failed.append(error)
        except UnicodeError:
            failed.append(socket.gaierror(socket.EAI_NONAME, "no valid name"))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(timeout)
    if looking.is_alive():
        raise socket.gaierror(socket.EAI_AGAIN, "the name service does not answer")
    if failed:
        raise failed[0]
    return found


class Watch:
    """Notices a peer that has fallen silent, and says so once, from a thread of its own.

    The peer is probed meanwhile, so a live one is heard at least every third of `limit` seconds.
    Silence is counted in our own ticks: a suspended laptop does not count.
    """

    def __init__(self, wire: Wire, limit: float, silent: Callable[[], None]) -> None:
        self._wire = wire
        self._tick = limit / _QUIET_TICKS
        self._silent = silent
        self._stop = threading.Event()
        threading.Thread(target=self._look, name="relight-watch", daemon=True).start()

    def stop(self) -> None:
        """Look no longer."""
        self._stop.set()

    def _look(self) -> None:
        heard, quiet = self._wire.heard, 0
        while not self._stop.wait(self._tick):
            if self._wire.heard != heard:
                heard, quiet = self._wire.heard, 0
                continue
            quiet += 1
            if quiet >= _QUIET_TICKS:
                self._silent()
                return
