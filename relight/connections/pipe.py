"""The byte pipe that the protocols run over: one process of the host, and its three streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from relight.errors import Unreachable


class NotBegun(Unreachable):
    """The host was lost before it had the whole of a command: nothing ran, repeating is safe."""


@dataclass(frozen=True)
class Chunk:
    """What one read brought: bytes of stdout, bytes of stderr; both empty when nothing came."""

    out: bytes = b""
    err: bytes = b""


class Pipe(Protocol):
    """A process of the host. Waits are in seconds, deadlines on `time.monotonic`."""

    @property
    def ended(self) -> bool:
        """Whether both output streams have ended."""

    def write(self, data: bytes, deadline: float | None) -> None:
        """Write all of `data`; raises NotBegun when the host is lost, TimeoutError when late."""

    def end_input(self) -> None:
        """End the process's stdin."""

    def read(self, wait: float) -> Chunk:
        """Return what comes first within `wait`; raises Unreachable when the host is lost."""

    def status(self, wait: float) -> int | None:
        """Return the exit status, or None when it is not known within `wait`."""

    def early_status(self, wait: float) -> int | None:
        """Return the exit status where waiting for it costs less than a look at the output."""

    def close(self) -> None:
        """Let the process go; closing twice is harmless."""
