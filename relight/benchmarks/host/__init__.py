"""The host while a benchmark runs: its GPUs where it has nvidia-smi, and who waits for a CPU."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from relight.connections import Connection, Stream
from relight.core.measure.cpu_pressure import (
    between,
    longest_wait,
    read_pressure,
    read_waits,
    uptime,
)
from relight.core.measure.gpu_readings import FIELDS, OLDER_FIELDS, parse
from relight.core.measure.measurement import GpuLoad
from relight.errors import RelightError

EVERY_MS = 500
_QUERY = "nvidia-smi --format=csv,noheader,nounits"


@dataclass(frozen=True)
class Cpu:
    """Shares of a run, 0 to 1: something on the host waited for a CPU; the server did."""

    pressure: float | None
    wait: float | None


class Watch:
    """Readings taken since it began; reads nothing until it is asked."""

    def __init__(
        self, connection: Connection, stream: Stream | None, pids: Sequence[int] = ()
    ) -> None:
        self._connection = connection
        self._stream = stream
        self._text = b""
        self._pids = pids
        self._before = _waiting(connection, pids)

    def cpu(self) -> Cpu:
        """Return who waited for a CPU so far: the host, and the server's threads."""
        after = _waiting(self._connection, self._pids)
        two = read_pressure(self._before), read_pressure(after)
        seconds = uptime(after) - uptime(self._before)
        waits = longest_wait(read_waits(self._before), read_waits(after), seconds)
        return Cpu(pressure=between(*two), wait=waits)

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
def watch(connection: Connection, pids: Sequence[int] = ()) -> Iterator[Watch]:
    """Read the GPUs every half second until the block ends; a host without GPUs is no error.

    `pids` are the server's processes, whose waiting for a CPU is read at the beginning.
    """
    script = (
        "command -v nvidia-smi >/dev/null || exit 0; "
        f"q={FIELDS}; {_QUERY} --query-gpu=$q >/dev/null 2>&1 || q={OLDER_FIELDS}; "
        f"exec {_QUERY} --query-gpu=$q -lms {EVERY_MS} 2>/dev/null"
    )
    stream: Stream | None = None
    with contextlib.suppress(RelightError, OSError):
        stream = connection.follow(script)
    try:
        yield Watch(connection, stream, pids)
    finally:
        if stream is not None:
            with contextlib.suppress(RelightError, OSError):
                stream.close()


def _waiting(connection: Connection, pids: Sequence[int]) -> str:
    folders = " ".join(f"/proc/{pid:d}" for pid in pids)
    script = (
        "cat /proc/uptime /proc/pressure/cpu 2>/dev/null; "
        f"for one in {folders}; do for two in $one/task/*/schedstat; do "
        '{ read -r ran waited more <"$two"; } 2>/dev/null || continue; two=${two%/schedstat}; '
        'echo "wait ${one#/proc/}/${two##*/} $ran $waited"; done; done'
    )
    with contextlib.suppress(RelightError, TimeoutError, OSError):
        return connection.control(script).out
    return ""
