"""What a followed command prints, piece by piece, without the noise of a login before it."""

from __future__ import annotations

import time

from relight.connections.pipe import Pipe
from relight.connections.resident import no_shell

_MOST_NOISE = 1 << 20


class Followed:
    """A command that goes on: its stdout as a stream, its stderr let go."""

    def __init__(self, host: str, pipe: Pipe, begin: str) -> None:
        self._host = host
        self._pipe = pipe
        self._begin = begin.encode()
        self._noise: bytearray | None = bytearray()
        self._words = b""
        self._closed = False

    def read(self, timeout: float) -> bytes | None:
        """Return the next bytes, b"" at the end, or None when none came within `timeout` seconds.

        Raises Unreachable when the host is lost, HostError when it starts no shell.
        """
        deadline = time.monotonic() + timeout
        while not self._closed:
            chunk = self._pipe.read(max(0.0, deadline - time.monotonic()))
            self._words = (self._words + chunk.err)[-_MOST_NOISE:]
            piece = self._quiet(chunk.out)
            if piece:
                return piece
            if self._pipe.ended:
                self.close()
                if self._noise is not None:
                    raise no_shell(self._host, self._words)
                return b""
            if time.monotonic() >= deadline:
                return None
        return b""

    def close(self) -> None:
        """End the command: its stdin ends, and with it its process group."""
        self._closed = True
        self._pipe.close()

    def _quiet(self, piece: bytes) -> bytes:
        if self._noise is None:
            return piece
        self._noise = (self._noise + piece)[-_MOST_NOISE:]
        at = self._noise.find(self._begin)
        end = self._noise.find(b"\n", at)
        if at < 0 or end < 0:
            return b""
        rest = bytes(self._noise[end + 1 :])
        self._noise = None
        return rest
