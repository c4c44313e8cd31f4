"""A connection whose every wait ends at a task's deadline: the keyword `timeout`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from relight.connections import Connection, Result, Stream

if TYPE_CHECKING:
    import httpx


class Bounded:
    """The same connection; no command outlasts the deadline (seconds of the monotonic clock)."""

    def __init__(self, inner: Connection, deadline: float) -> None:
        self._inner, self._deadline = inner, deadline
        self.address = inner.address

    @property
    def round_trips(self) -> int:
        """Return the inner connection's count."""
        return self._inner.round_trips

    @round_trips.setter
    def round_trips(self, count: int) -> None:
        self._inner.round_trips = count

    def _left(self, timeout: float | None) -> float:
        left = max(0.01, self._deadline - time.monotonic())
        return left if timeout is None else min(left, timeout)

    def control(self, script: str, *, data: bytes = b"", timeout: float = 30.0) -> Result:
        """Run a short step."""
        return self._inner.control(script, data=data, timeout=self._left(timeout))

    def run(
        self,
        command: str,
        *,
        data: bytes = b"",
        timeout: float | None = None,
        environment: dict[str, str] | None = None,
    ) -> Result:
        """Run a command."""
        left = self._left(timeout)
        return self._inner.run(command, data=data, timeout=left, environment=environment)

    def follow(self, command: str) -> Stream:
        """Start a command."""
        return self._inner.follow(command)

    def transport(self) -> httpx.BaseTransport:
        """Return the inner connection's transport."""
        return self._inner.transport()

    def end(self) -> None:
        """End what runs."""
        self._inner.end()

    def close(self) -> None:
        """Close it."""
        self._inner.close()
