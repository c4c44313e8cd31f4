"""Connections by name: the one layer that speaks SSH and starts processes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    import httpx

    from relight.core.address import Address


@dataclass(frozen=True)
class Result:
    """How a command ended: its exit status (128 + signal when killed) and both streams, apart."""

    exit: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        """Return stdout as text; broken UTF-8 is replaced."""
        return self.stdout.decode(errors="replace")

    @property
    def err(self) -> str:
        """Return stderr as text; broken UTF-8 is replaced."""
        return self.stderr.decode(errors="replace")


class Stream(Protocol):
    """The output of a command that goes on, read piece by piece."""

    def read(self, timeout: float) -> bytes | None:
        """Return the next bytes, b"" at the end, or None when none came within `timeout` s."""

    def close(self) -> None:
        """End the command."""


class Connection(Protocol):
    """One open way to one host. Scripts are POSIX sh; every wait has a limit that really fires.

    All methods raise `Unreachable` when the host cannot be reached or falls silent, and
    `TimeoutError` when the command itself outlasts its limit (it is ended then).
    """

    address: Address
    round_trips: int
    """Waits for an answer of the host since the connection was opened."""

    def control(self, script: str, *, data: bytes = b"", timeout: float = 30.0) -> Result:
        """Run a short step of relight's own in the resident shell; `data` is its stdin."""

    def run(
        self,
        command: str,
        *,
        data: bytes = b"",
        timeout: float | None = None,
        environment: dict[str, str] | None = None,
    ) -> Result:
        """Run a command in a channel of its own."""

    def follow(self, command: str) -> Stream:
        """Start a command and stream what it prints on stdout."""

    def transport(self) -> httpx.BaseTransport:
        """Return an HTTP transport whose connections start on the host: 127.0.0.1 is the host."""

    def end(self) -> None:
        """End every command that `run` runs now: each returns there as killed."""

    def close(self) -> None:
        """Close it, ending what `run` runs; the host keeps running what was detached."""


def connect(address: Address) -> Connection:
    """Open a connection of the kind that the address names; raises `Unreachable`."""
    module = importlib.import_module(f"{__name__}.{address.connection}")
    return cast("Connection", module.open_connection(address))
