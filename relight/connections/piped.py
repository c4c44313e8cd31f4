"""Everything a connection does with shells, over whatever opens a pipe to one."""

from __future__ import annotations

import abc
import contextlib
import re
import threading
import time
import weakref

from relight.connections import Result, script
from relight.connections.pipe import NotBegun, Pipe
from relight.connections.resident import MOST_OUTPUT, Resident, no_shell
from relight.connections.script import payload
from relight.connections.stream import Followed
from relight.core.address import Address
from relight.core.duration import spell
from relight.errors import HostError, RelightError, Unreachable

MOST_RUN_OUTPUT = 64 << 20
"""Bytes that a command may print, both streams together."""

_LARGE = 64 << 10  # data of this size goes raw through a channel of its own, not as sh text
_SLICE = 0.2
_LINGER = 1.0  # how long output may stay away once the exit status is there
_NAMED = 1.0  # how long a command that is told to end may take to name its session
_SHORT = 0.02  # how long a command's output may wait: most commands have ended by then


class PipedConnection(abc.ABC):
    """The resident shell, commands and streams of one host; `open_pipe` is left to the kind."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.round_trips = 0
        self._resident: Resident | None = None
        self._turn = threading.RLock()
        self._count_lock = threading.Lock()
        self._streams: weakref.WeakSet[Followed] = weakref.WeakSet()
        self._running: list[tuple[Pipe, _Output]] = []

    @abc.abstractmethod
    def open_pipe(self, command: str) -> Pipe:
        """Open a pipe to what a login shell is asked to run; raises Unreachable or HostError."""

    def counted(self, waits: int = 1) -> None:
        """Count waits for an answer of the host."""
        with self._count_lock:
            self.round_trips += waits

    def control(self, script: str, *, data: bytes = b"", timeout: float = 30.0) -> Result:
        """Run a short step in the resident shell: one round trip, plus the shell's opening.

        Raises Unreachable, TimeoutError, and HostError for an answer that is none (more than
        4 MiB, a shell that died). A step that never began because the connection was lost is sent
        again; one that may have begun is not.
        """
        payload(self.address.name, script)
        if len(data) > _LARGE:
            return self._command(script, data, timeout, {}, MOST_OUTPUT)
        with self._turn:
            try:
                return self._step(script, data, timeout)
            except NotBegun:
                return self._step(script, data, timeout)

    def run(
        self,
        command: str,
        *,
        data: bytes = b"",
        timeout: float | None = None,
        environment: dict[str, str] | None = None,
    ) -> Result:
        """Run a command in a channel of its own; `environment` appears in no argv.

        Raises Unreachable, TimeoutError (every process of its session is gone then), and HostError
        when it prints more than 64 MiB.
        """
        return self._command(command, data, timeout, environment or {}, MOST_RUN_OUTPUT)

    def follow(self, command: str) -> Followed:
        """Start a command and stream its stdout; it ends with the stream or the connection."""
        begin = script.mark()
        pipe = self._started(command, begin, {}, fed=False)
        stream = Followed(self.address.name, pipe, begin)
        self._streams.add(stream)
        return stream

    def _step(self, text: str, data: bytes, timeout: float) -> Result:
        resident = self._resident
        if resident is None or not resident.alive():
            self._discard()
            resident = Resident(self.address.name, self.open_pipe, self._prelude())
            self._resident = resident
        try:
            result = resident.step(text, data, timeout)
            self.counted()
        except (TimeoutError, HostError):
            self._end(resident.named(self.address.timeout))
            raise
        finally:
            if resident.spent:
                self._discard()
        return result

    def _command(
        self, text: str, data: bytes, timeout: float | None, environment: dict[str, str], most: int
    ) -> Result:
        deadline = None if timeout is None else time.monotonic() + timeout
        begin = script.mark()
        try:
            pipe = self._started(text, begin, environment, fed=bool(data))
        except NotBegun:
            pipe = self._started(text, begin, environment, fed=bool(data))
        output = _Output(self.address.name, begin, most)
        running = (pipe, output)
        self._running.append(running)
        try:
            status = None
            if data:
                threading.Thread(target=_feed, args=(pipe, data), daemon=True).start()
            else:
                status = pipe.early_status(_SHORT if timeout is None else min(_SHORT, timeout))
            result = _collect(pipe, output, deadline, status)
        except (TimeoutError, HostError) as error:
            self._end(_named(pipe, output, self.address.timeout))
            if isinstance(error, TimeoutError) and timeout is not None:
                raise TimeoutError(
                    f"{self.address.name}: the command did not end within {spell(timeout)}"
                ) from None
            raise
        finally:
            self._running.remove(running)
            output.spoken.set()
            pipe.close()
        self.counted()
        return result

    def _started(self, text: str, begin: str, environment: dict[str, str], *, fed: bool) -> Pipe:
        name = self.address.name
        line = payload(name, script.command(name, text, begin, environment, fed=fed))
        if not (environment or self.address.become or len(line) > script.MOST_CARRIED):
            return self.open_pipe(script.carrying(line))
        pipe = self.open_pipe(script.OPEN)
        try:
            pipe.write(self._prelude() + line, time.monotonic() + self.address.timeout)
        except BaseException:
            pipe.close()
            raise
        return pipe

    def _prelude(self) -> bytes:
        if not self.address.become:
            return b""
        return payload(self.address.name, script.become(self.address.become_user))

    def _end(self, session: int | None) -> None:
        """Kill what a command left; raises Unreachable when the host no longer answers."""
        text = script.end_session(session) if session else ":"
        begin = script.mark()
        pipe = self._started(text, begin, {}, fed=False)
        try:
            output = _Output(self.address.name, begin, MOST_OUTPUT)
            result = _collect(pipe, output, time.monotonic() + self.address.timeout + 5)
        except TimeoutError:
            raise Unreachable(self.address.name, "it takes commands but answers none") from None
        finally:
            pipe.close()
        self.counted()
        if result.exit:
            raise HostError(self.address.name, "a command outlasts its limit and cannot be killed")

    def _discard(self) -> None:
        resident, self._resident = self._resident, None
        if resident:
            resident.close()

    def end(self) -> None:
        """End every command that `run` runs now, its whole session; each comes back as killed."""
        for pipe, output in list(self._running):
            output.spoken.wait(_NAMED)
            with contextlib.suppress(RelightError, TimeoutError):
                if output.session is not None:
                    self._end(output.session)
            pipe.end_input()

    def close(self) -> None:
        """End what runs, close the resident shell and every stream; the kind closes the rest."""
        self.end()
        self._discard()
        for stream in list(self._streams):
            stream.close()


class _Output:
    """Both streams of a command, of which the part after the opening mark is its own."""

    def __init__(self, host: str, begin: str, most: int) -> None:
        self.host = host
        self._begin = begin.encode()
        self._most = most
        self._out = bytearray()
        self._err = bytearray()
        self.spoken = threading.Event()
        """Set once the shell named its session, or will no more."""

    def take(self, out: bytes, err: bytes) -> None:
        """Add what came; raises HostError beyond the limit."""
        self._out += out
        self._err += err
        if not self.spoken.is_set() and self.session is not None:
            self.spoken.set()
        if len(self._out) + len(self._err) > self._most:
            raise HostError(
                self.host,
                f"a command printed more than {self._most >> 20} MiB",
                "let it write to a file",
            )

    @property
    def session(self) -> int | None:
        """The session that the shell named, or None when it has not spoken."""
        found = re.search(rb"%b (\d+)\n" % self._begin, self._out)
        return int(found[1]) if found else None

    def result(self, status: int) -> Result:
        """Return the command's own output; raises HostError when no shell ever spoke."""
        noise, spoken, out = self._out.partition(self._begin)
        if not spoken:
            raise no_shell(self.host, bytes(self._err or noise))
        err = self._err.partition(self._begin)[2]
        return Result(status, bytes(out.partition(b"\n")[2]), bytes(err))


def _collect(
    pipe: Pipe, output: _Output, deadline: float | None, status: int | None = None
) -> Result:
    """Read a command to its end. What it left running may keep its streams: that is not awaited."""
    heard = time.monotonic()
    while not pipe.ended:
        now = time.monotonic()
        if deadline is not None and now >= deadline:
            raise TimeoutError
        left = _SLICE if deadline is None else min(_SLICE, deadline - now)
        chunk = pipe.read(left)
        if chunk.out or chunk.err:
            output.take(chunk.out, chunk.err)
            heard = time.monotonic()
        elif status is None:
            status = pipe.status(0)
            heard = time.monotonic()
        elif time.monotonic() - heard > _LINGER:
            break
    while status is None:
        left = _SLICE if deadline is None else min(_SLICE, deadline - time.monotonic())
        if left <= 0:
            raise TimeoutError
        status = pipe.status(left)
    return output.result(status)


def _named(pipe: Pipe, output: _Output, wait: float) -> int | None:
    """Return the session of a command, which a slow login may name only within `wait` seconds."""
    deadline = time.monotonic() + wait
    while output.session is None and not pipe.ended:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        chunk = pipe.read(left)
        output.take(chunk.out, chunk.err)
    return output.session


def _feed(pipe: Pipe, data: bytes) -> None:
    # A command that leaves without reading its input is no error.
    with contextlib.suppress(Unreachable, TimeoutError, OSError):
        pipe.write(data, None)
        pipe.end_input()
