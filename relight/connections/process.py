"""A pipe to a process of this machine, in a session of its own."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import time
from pathlib import Path

from relight.connections.pipe import Chunk, NotBegun
from relight.errors import HostError

_PIECE = 1 << 16


class ProcessPipe:
    """One process of this machine, started as `sh -c COMMAND` in the home directory."""

    def __init__(self, host: str, command: str) -> None:
        self._host = host
        home = Path.home()
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=home if home.is_dir() else "/",
                start_new_session=True,
            )
        except OSError as error:
            raise HostError(host, f"cannot start a process: {error.strerror}") from error
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (stream.fileno() for stream in streams if stream)
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._open = {self._out, self._err}
        self._closed = False
        self._input_ended = False
        # A closed descriptor's number goes to the next pipe: whoever uses one must know that it is
        # still this pipe's, or one command's input ends up in another's shell.
        self._mutex = threading.Lock()

    @property
    def ended(self) -> bool:
        """Whether both output streams have ended."""
        return not self._open

    def write(self, data: bytes, deadline: float | None) -> None:
        """Write all of `data`; raises NotBegun when the process is gone, TimeoutError when late."""
        waiter = select.poll()
        rest = memoryview(data)
        while rest:
            if self._closed:
                raise NotBegun(self._host, "the shell was closed")
            waiter.register(self._in, select.POLLOUT)
            left = 0.2 if deadline is None else min(0.2, deadline - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"{self._host}: the command did not take its input in time")
            if not waiter.poll(left * 1000):
                continue
            with self._mutex:
                if self._closed or self._input_ended:
                    raise NotBegun(self._host, "the shell was closed")
                try:
                    rest = rest[os.write(self._in, rest[:_PIECE]) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise NotBegun(self._host, "the shell ended") from error

    def end_input(self) -> None:
        """End the process's stdin."""
        with self._mutex:
            self._input_ended = True
            if self._process.stdin and not self._process.stdin.closed:
                self._process.stdin.close()

    def read(self, wait: float) -> Chunk:
        """Return what comes first within `wait` seconds."""
        waiter = select.poll()
        for descriptor in self._open:
            waiter.register(descriptor, select.POLLIN)
        if not self._open:
            return Chunk()
        got = {self._out: b"", self._err: b""}
        ready = waiter.poll(max(wait, 0) * 1000)
        with self._mutex:
            if self._closed:
                return Chunk()
            for descriptor, _ in ready:
                try:
                    got[descriptor] = os.read(descriptor, _PIECE)
                except BlockingIOError:
                    continue
                if not got[descriptor]:
                    self._open.discard(descriptor)
        return Chunk(got[self._out], got[self._err])

    def status(self, wait: float) -> int | None:
        """Return the exit status (128 + signal when killed), or None when it still runs."""
        try:
            code = self._process.wait(max(wait, 0))
        except subprocess.TimeoutExpired:
            return None
        return 128 - code if code < 0 else code

    def early_status(self, wait: float) -> int | None:  # noqa: ARG002  see Pipe
        """Return None: a process of this machine is waited for in naps, its output without any."""
        return None

    def close(self) -> None:
        """Close the streams, and reap the process when it has ended."""
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            self._open.clear()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                if stream:
                    with contextlib.suppress(OSError):
                        stream.close()
        # The end of its stdin ends a resident shell and, through the guard, a command.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
