"""The delaying relay: how late, in which order, and how a connection ends through it."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbed.relay import relaying

DELAY = 0.025


@contextlib.contextmanager
def listening() -> Iterator[tuple[socket.socket, int]]:
    """A listening socket of loopback and its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        yield listener, listener.getsockname()[1]


@contextlib.contextmanager
def joined() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two ends of one connection through a relay: who connected, and who accepted."""
    with (
        listening() as (listener, target),
        relaying("127.0.0.1", target, DELAY) as port,
        socket.create_connection(("127.0.0.1", port), 10) as near,
    ):
        far, _ = listener.accept()
        with far:
            far.settimeout(10)
            yield near, far


def receive(source: socket.socket, size: int) -> bytes:
    """Read so many bytes, fewer when the stream ends before."""
    data = b""
    while len(data) < size and (more := source.recv(size - len(data))):
        data += more
    return data


def test_a_round_trip_takes_both_delays() -> None:
    """A byte there and a byte back take two delays, never less and usually little more."""
    took = []
    with joined() as (near, far):
        for _ in range(10):
            started = time.monotonic()
            near.sendall(b"?")
            assert far.recv(1) == b"?"
            far.sendall(b"!")
            assert near.recv(1) == b"!"
            took.append(time.monotonic() - started)
    assert min(took) >= 2 * DELAY - 0.002
    assert min(took) < 2 * DELAY + 0.020


def test_delay_is_not_a_speed_limit() -> None:
    """What is sent in one go arrives one delay later, in order: pieces do not add up delays."""
    pieces = [bytes([number]) * 1000 for number in range(100)]
    with joined() as (near, far):
        started = time.monotonic()
        for piece in pieces:
            near.sendall(piece)
        assert receive(far, 100_000) == b"".join(pieces)
        assert time.monotonic() - started < 20 * DELAY


def test_carries_more_than_fits_on_the_way() -> None:
    """A stream larger than all buffers arrives whole, at the speed of its reader."""
    data = bytes(range(256)) * (1 << 16)
    with joined() as (near, far):
        writer = threading.Thread(target=near.sendall, args=(data,))
        writer.start()
        assert receive(far, len(data)) == data
        writer.join()


def test_the_end_of_a_stream_is_delayed_too() -> None:
    """After one side has said its last byte the other can still answer; then both are done."""
    with joined() as (near, far):
        near.sendall(b"question")
        near.shutdown(socket.SHUT_WR)
        assert receive(far, 100) == b"question"
        far.sendall(b"answer")
        far.close()
        assert receive(near, 100) == b"answer"


def test_nobody_there_ends_the_connection() -> None:
    """When nobody listens behind the relay, the client's connection ends at once."""
    with listening() as (_, unused):
        pass
    with (
        relaying("127.0.0.1", unused, DELAY) as port,
        socket.create_connection(("127.0.0.1", port), 10) as near,
        contextlib.suppress(ConnectionResetError),
    ):
        assert near.recv(1) == b""


def test_stops_with_a_connection_open() -> None:
    """The end of the block ends open connections; nothing waits for the client to leave."""
    with listening() as (_, target):
        with relaying("127.0.0.1", target, DELAY) as port:
            near = socket.create_connection(("127.0.0.1", port), 10)
        with near, contextlib.suppress(ConnectionResetError):
            assert near.recv(1) == b""


def test_command_line() -> None:
    """The command prints its port and relays to the place it was given."""
    script = Path(__file__).with_name("relay.py")
    with listening() as (listener, target):
        words = [sys.executable, str(script), "--to", f"127.0.0.1:{target}", "--delay-ms", "5"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout
                port = int(process.stdout.readline())
                with socket.create_connection(("127.0.0.1", port), 10) as near:
                    near.sendall(b"x")
                    far, _ = listener.accept()
                    with far:
                        assert receive(far, 1) == b"x"
            finally:
                process.terminate()


@pytest.mark.parametrize("text", ["22", ":22", "host:", "host:99999", "host:ssh"])
def test_refuses_what_is_no_address(text: str) -> None:
    """Anything but HOST:PORT is refused with the words that were given."""
    script = Path(__file__).with_name("relay.py")
    answer = subprocess.run(
        [sys.executable, script, "--to", text], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert f"{text!r} is not HOST:PORT" in answer.stderr
