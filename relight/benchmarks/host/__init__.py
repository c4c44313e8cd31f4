"""The host while a benchmark runs: its GPUs where it has nvidia-smi, and who waits for a CPU."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from relight.connections import Connection, Stream
from relight.core.measure.cpu_pressure import Pressure, between, read_pressure
from relight.core.measure.gpu_readings import FIELDS, OLDER_FIELDS, parse
from relight.core.measure.measurement import GpuLoad
from relight.errors import RelightError

EVERY_MS = 500
_QUERY = "nvidia-smi --format=csv,noheader,nounits"


class Watch:
    """Readings taken since it began; reads nothing until it is asked."""

    def __init__(self, connection: Connection, stream: Stream | None) -> None:
        self._connection = connection
        self._stream = stream
        self._text = b""
        self._before = _pressure(connection)

    def cpu_pressure(self) -> float | None:
        """Return the share of the time so far in which something waited for a CPU."""
        return between(self._before, _pressure(self._connection))

    def loads(self) -> tuple[GpuLoad, ...]:
        """Return what the readings so far come to; empty without nvidia-smi."""
        deadline = time.monotonic() + 2.0
        while self._stream is not None and time.monotonic() < deadline:
            try:
                data = self._stream.read(0.05)
            except (RelightError, OSError, TimeoutError):
                break
            if not data:
                break
            self._text += data
        return parse(self._text.decode(errors="replace"))


@contextlib.contextmanager
def watch(connection: Connection) -> Iterator[Watch]:
    """Read the GPUs every half second until the block ends; a host without GPUs is no error."""
    script = (
        "command -v nvidia-smi >/dev/null || exit 0; "
        f"q={FIELDS}; {_QUERY} --query-gpu=$q >/dev/null 2>&1 || q={OLDER_FIELDS}; "
        f"exec {_QUERY} --query-gpu=$q -lms {EVERY_MS} 2>/dev/null"
    )
    stream: Stream | None = None
    with contextlib.suppress(RelightError, OSError):
        stream = connection.follow(script)
    try:
        yield Watch(connection, stream)
    finally:
        if stream is not None:
            with contextlib.suppress(RelightError, OSError):
                stream.close()


def _pressure(connection: Connection) -> Pressure | None:
    with contextlib.suppress(RelightError, TimeoutError, OSError):
        script = "cat /proc/uptime /proc/pressure/cpu 2>/dev/null"
        return read_pressure(connection.control(script).out)
    return None
