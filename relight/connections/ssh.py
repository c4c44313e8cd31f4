"""The connection over SSH: one transport per host, opened again when it was lost."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from relight.connections.channel import ChannelPipe
from relight.connections.login import Login, log_in
from relight.connections.piped import PipedConnection
from relight.core.address import Address
from relight.errors import Unreachable

if TYPE_CHECKING:
    import httpx


class SshConnection(PipedConnection):
    """A host over SSH. What had not begun when the connection was lost is sent over a new one."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._lock = threading.Lock()
        self._closed = False
        self._login = log_in(address)

    def open_pipe(self, command: str) -> ChannelPipe:
        """Open a session channel for a command."""
        return ChannelPipe(self.address.name, self._current(), command, self.counted)

    def transport(self) -> httpx.BaseTransport:
        """Return an HTTP transport whose connections start on the host."""
        from relight.connections.http import HostTransport  # noqa: PLC0415 - start-up time
        from relight.connections.tunnel import TunnelBackend  # noqa: PLC0415 - start-up time

        backend = TunnelBackend(self.address.name, self._current, self.counted)
        return HostTransport(backend, self.counted)

    def close(self) -> None:
        """Close the connection; what was detached on the host goes on."""
        super().close()
        with self._lock:
            self._closed = True
            self._login.close()

    def _current(self) -> Login:
        """Return the transport, a new one when the last was lost; raises Unreachable."""
        with self._lock:
            if self._closed:
                raise Unreachable(self.address.name, "the connection was closed")
            if not self._login.alive:
                self._login.close()
                self._login = log_in(self.address)
            return self._login


def open_connection(address: Address) -> SshConnection:
    """Connect and authenticate; raises Unreachable."""
    return SshConnection(address)
