"""The resident shell: one `sh` per host that runs relight's own short steps, a round trip each."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from relight.connections import Result, script
from relight.connections.pipe import Pipe
from relight.core.duration import spell
from relight.errors import HostError, Unreachable

MOST_OUTPUT = 4 << 20
"""Bytes that one step may print, both streams together."""


class Resident:
    """A shell that reads steps from its stdin and frames what each prints with a fresh mark.

    `spent` turns true when an answer does not look as it must: the shell is thrown away then.
    """

    def __init__(self, host: str, open_pipe: Callable[[str], Pipe], prelude: bytes) -> None:
        self._host = host
        self._open_pipe = open_pipe
        self._prelude = prelude
        self._pipe: Pipe | None = None
        self._begin = script.mark()
        self._seen = bytearray()
        self.session: int | None = None
        self.spent = False

    def alive(self) -> bool:
        """Whether the shell still waits for a step, and nobody printed anything since the last."""
        if self.spent or self._pipe is None:
            return not self.spent
        try:
            noise = self._pipe.read(0)
        except Unreachable:
            return False
        return not (noise.out or noise.err or self._pipe.ended)

    def step(self, text: str, data: bytes, timeout: float) -> Result:
        """Run one step; `data` is its stdin, `timeout` counts seconds.

        Raises NotBegun when the shell never had the whole step, Unreachable when the host is lost
        within it, TimeoutError when it lasts too long, HostError when its answer is no answer.
        """
        deadline = time.monotonic() + timeout
        self.spent = True  # until the answer has proved otherwise
        bound = script.mark()
        pipe = self._sent(script.step(text, data, bound), deadline, secret=bool(data))
        out, err = _Framed(bound, rb" (\d{1,3})\n"), _Framed(bound, rb"\n")
        try:
            self._read(pipe, out, err, deadline, timeout)
        finally:
            self._seen = out.seen
            as_expected = self._greet(bytes(out.seen), out.before)
        clean = as_expected and not (out.after or err.after)
        self.spent = not clean or self.session is None
        return Result(int(out.tail), out.body, err.body)

    def _sent(self, step: str, deadline: float, *, secret: bool) -> Pipe:
        """Send a step; the first opens the shell, and travels with its opening where it may."""
        sent = script.payload(self._host, step)
        if self._pipe is not None:
            self._pipe.write(sent, deadline)
            return self._pipe
        if secret or self._prelude or len(sent) > script.MOST_CARRIED:
            self._pipe = self._open_pipe(script.OPEN)
            opening = self._prelude + script.resident(self._begin).encode()
            self._pipe.write(opening + sent, deadline)
        else:
            text = script.payload(self._host, script.resident_after(self._begin, step))
            self._pipe = self._open_pipe(script.carrying(text))
        return self._pipe

    def _read(
        self, pipe: Pipe, out: _Framed, err: _Framed, deadline: float, timeout: float
    ) -> None:
        while not (out.complete and err.complete):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{self._host}: a step did not end within {spell(timeout)}")
            chunk = pipe.read(left)
            out.feed(chunk.out)
            err.feed(chunk.err)
            if len(out.seen) + len(err.seen) > MOST_OUTPUT:
                raise HostError(self._host, f"a step printed more than {MOST_OUTPUT >> 20} MiB")
            if pipe.ended and not (out.complete and err.complete):
                if self._begin.encode() in out.seen or self.session is not None:
                    raise HostError(self._host, "the shell of a step ended before the step did")
                raise no_shell(self._host, bytes(err.seen))

    def named(self, wait: float) -> int | None:
        """Return the shell's session, which a slow login may name only within `wait` seconds."""
        deadline = time.monotonic() + wait
        while self.session is None and self._pipe is not None and not self._pipe.ended:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._seen += self._pipe.read(left).out
            self._greet(bytes(self._seen), b"")
        return self.session

    def close(self) -> None:
        """End the shell."""
        self.spent = True
        if self._pipe is not None:
            self._pipe.close()

    def _greet(self, seen: bytes, before: bytes) -> bool:
        """Read the session from the first answer; whether nothing odd came before the step.

        A login may print what it likes before the shell's first word, nobody after it.
        """
        if self.session is not None:
            return not before
        found = re.search(rb"%b (\d+)\n" % self._begin.encode(), seen)
        if found:
            self.session = int(found[1])
        return found is not None and found.end() == len(before)


def no_shell(host: str, err: bytes) -> HostError:
    """Return the error for a host that started no shell: its last words tell why."""
    words = err.decode(errors="replace").strip().splitlines()
    last = "".join(char for char in words[-1][:200] if char.isprintable()) if words else ""
    what = f"cannot start a shell: {last}" if last else "cannot start a shell: it ended silently"
    if "sudo" in last:
        return HostError(host, what, "let sudo work there without a password, or do not become")
    return HostError(host, what)


class _Framed:
    """One stream of one step: what stands between two marks, and what does not belong there."""

    def __init__(self, bound: str, tail: bytes) -> None:
        self._bound = bound.encode()
        self._tail = re.compile(tail)
        self._marks: list[int] = []
        self._look = 0
        self._end: re.Match[bytes] | None = None
        self.seen = bytearray()

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; no byte is searched twice."""
        self.seen += piece
        while len(self._marks) < 2:
            at = self.seen.find(self._bound, self._look)
            if at < 0:
                self._look = max(self._look, len(self.seen) - len(self._bound) + 1)
                return
            self._marks.append(at)
            self._look = at + len(self._bound)
        if self._end is None:
            self._end = self._tail.match(bytes(self.seen[self._look : self._look + 8]))

    @property
    def complete(self) -> bool:
        return self._end is not None

    @property
    def before(self) -> bytes:
        return bytes(self.seen[: self._marks[0]] if self._marks else self.seen)

    @property
    def body(self) -> bytes:
        return bytes(self.seen[self._marks[0] + len(self._bound) : self._marks[1]])

    @property
    def after(self) -> bytes:
        return bytes(self.seen[self._look + (self._end.end() if self._end else 0) :])

    @property
    def tail(self) -> bytes:
        return self._end[1] if self._end else b""
