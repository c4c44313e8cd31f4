"""The connection to this machine itself: the same contract through plain processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relight.connections.piped import PipedConnection
from relight.connections.process import ProcessPipe

if TYPE_CHECKING:
    import httpx

    from relight.core.address import Address


class LocalConnection(PipedConnection):
    """This machine; commands start in the home directory, each in a session of its own."""

    def open_pipe(self, command: str) -> ProcessPipe:
        """Start a process."""
        return ProcessPipe(self.address.name, command)

    def transport(self) -> httpx.BaseTransport:
        """Return a plain HTTP transport."""
        from httpcore import SyncBackend  # noqa: PLC0415 - start-up time

        from relight.connections.http import HostTransport  # noqa: PLC0415 - start-up time

        return HostTransport(SyncBackend(), self.counted)


def open_connection(address: Address) -> LocalConnection:
    """Return the connection to this machine; nothing is started yet."""
    return LocalConnection(address)
