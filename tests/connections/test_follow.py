"""Streams: what a followed command prints arrives as it comes, and ends when it is told to."""

from __future__ import annotations

import os
import threading
import time

from relight.connections import Connection, Stream
from tests.connections.test_contract import running
from tests.deadline import until


def gather(stream: Stream, seconds: float = 10) -> bytes:
    """Read a stream to its end."""
    deadline = time.monotonic() + seconds
    got = b""
    while time.monotonic() < deadline:
        piece = stream.read(0.5)
        if piece == b"":
            return got
        got += piece or b""
    raise AssertionError(f"no end within {seconds} s; got {got!r}")


def test_pieces_arrive_as_they_are_printed(connection: Connection) -> None:
    """A read returns what is there, None when nothing came in time, and b"" at the end."""
    stream = connection.follow("echo one; read x; sleep 1; echo two; echo hidden >&2")
    assert stream.read(5) == b"one\n"
    assert stream.read(0.05) is None
    assert gather(stream) == b"two\n"
    assert stream.read(1) == b""


def test_a_stream_is_binary_safe(connection: Connection) -> None:
    """Megabytes of any bytes arrive whole, while stderr of the same size holds nothing up."""
    size = 6 << 20
    flood = f"head -c {size} /dev/zero >&2; head -c {size} /dev/zero | tr '\\0' '\\377'"
    assert gather(connection.follow(flood), 60) == b"\xff" * size


def test_closing_ends_the_command(connection: Connection) -> None:
    """A command that would go on for ever is gone from the host soon after the close."""
    mark = f"65.{os.getpid()}"
    stream = connection.follow(f"echo up; sleep {mark} & sleep {mark}")
    assert stream.read(5) == b"up\n"
    stream.close()
    until(lambda: not running(mark), 5, "the followed command is gone")
    assert stream.read(1) == b""


def test_closing_the_connection_ends_the_command(connection: Connection) -> None:
    """A followed command does not outlive its connection."""
    mark = f"66.{os.getpid()}"
    stream = connection.follow(f"echo up; exec sleep {mark}")
    assert stream.read(5) == b"up\n"
    connection.close()
    until(lambda: not running(mark), 5, "the followed command is gone")


def test_streams_and_steps_run_beside_each_other(connection: Connection) -> None:
    """Several streams are read from threads of their own while steps go on."""
    got: dict[int, bytes] = {}

    def read(number: int, stream: Stream) -> None:
        got[number] = gather(stream, 20)

    threads = []
    for number in range(3):
        stream = connection.follow(f"for i in 1 2 3 4 5; do echo {number}; sleep 0.1; done")
        threads.append(threading.Thread(target=read, args=(number, stream)))
    for thread in threads:
        thread.start()
    for turn in range(20):
        assert connection.control(f"echo {turn}").out == f"{turn}\n"
    for thread in threads:
        thread.join(30)
    assert got == {number: f"{number}\n".encode() * 5 for number in range(3)}
