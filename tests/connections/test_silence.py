"""A peer that falls silent, or is gone, at any moment: each wait ends in time, with a reason."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from relight.connections import Connection, connect
from relight.errors import HostError, Unreachable
from tests import sshd as servers
from tests.connections.test_contract import running
from tests.connections.test_follow import gather
from tests.connections.test_login import peer, refusal
from tests.deadline import until

pytestmark = pytest.mark.ssh

LIMIT = 1.0  # the address's timeout; silence is called after twice that


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Hold that what follows takes no longer."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


def test_no_greeting(own_sshd: servers.Sshd) -> None:
    """A peer that accepts and says nothing is given up after the address's timeout."""
    with peer(lambda taken: taken.setblocking(True)) as port, within(4):
        why = refusal(own_sshd.address(port=port, timeout=LIMIT))
    assert "accepted the connection and then said nothing for 1.0s" in why


def test_silence_after_the_greeting(own_sshd: servers.Sshd) -> None:
    """A peer that greets and then says nothing is given up during the key exchange."""
    with peer(lambda taken: taken.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")) as port, within(5):
        why = refusal(own_sshd.address(port=port, timeout=LIMIT))
    assert "fell silent during the login" in why


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.8])
def test_silence_within_the_login(own_sshd: servers.Sshd, share: float) -> None:
    """A peer that falls silent within key exchange or authentication is given up in time."""
    whole = own_sshd.relay()
    connect(own_sshd.address(port=whole.port)).close()
    relay = own_sshd.relay()
    relay.silence_after(int(whole.answered * share))
    with within(8):
        assert "silent" in refusal(own_sshd.address(port=relay.port, timeout=LIMIT))


def step(connection: Connection) -> object:
    """Wait for the resident shell."""
    return connection.control("echo x", timeout=60)


def short_step(connection: Connection) -> object:
    """Wait for the resident shell, with a limit shorter than the silence's."""
    return connection.control("echo x", timeout=0.3)


def large_step(connection: Connection) -> object:
    """Write more than any buffer holds."""
    return connection.control("cat >/dev/null", data=b"x" * (64 << 20), timeout=60)


def command(connection: Connection) -> object:
    """Wait for a command without a limit."""
    return connection.run("echo x")


def request(connection: Connection) -> object:
    """Wait for an HTTP connection without a limit."""
    with httpx.Client(transport=connection.transport(), timeout=None) as client:
        return client.get("http://127.0.0.1:9/")


ACTS = [step, short_step, large_step, command, request]


@pytest.mark.parametrize("act", ACTS)
def test_silence_of_the_network(
    own_sshd: servers.Sshd, act: Callable[[Connection], object]
) -> None:
    """When the network swallows everything, each operation ends with Unreachable."""
    relay = own_sshd.relay()
    connection = connect(own_sshd.address(port=relay.port, timeout=LIMIT))
    connection.control(":")
    relay.silence()
    with within(8), pytest.raises(Unreachable, match="silent"):
        act(connection)
    with within(2):
        connection.close()


@pytest.mark.parametrize("act", ACTS)
def test_silence_of_the_server(own_sshd: servers.Sshd, act: Callable[[Connection], object]) -> None:
    """A server that is stopped, while its kernel still acknowledges, is as silent as a network."""
    connection = connect(own_sshd.address(timeout=LIMIT))
    connection.control(":")
    with own_sshd.silent(), within(8), pytest.raises(Unreachable, match="silent"):
        act(connection)
    connection.close()


def test_silence_within_a_command(own_sshd: servers.Sshd) -> None:
    """A command and a stream that are under way end with Unreachable, without a limit of theirs."""
    relay = own_sshd.relay()
    connection = connect(own_sshd.address(port=relay.port, timeout=LIMIT))
    stream = connection.follow("while :; do echo x; sleep 0.1; done")
    assert stream.read(5)
    relay.silence()
    with within(8), pytest.raises(Unreachable, match=r"it fell silent: nothing came for 2\.0s"):
        gather(stream, 60)
    connection.close()


def test_a_quiet_command_is_not_a_silent_peer(own_sshd: servers.Sshd) -> None:
    """A command that prints nothing for longer than the limit of silence goes on."""
    connection = connect(own_sshd.address(timeout=0.4))
    assert connection.run("sleep 2; echo done").stdout == b"done\n"
    connection.close()


def test_a_dropped_connection_ends_a_step(own_sshd: servers.Sshd) -> None:
    """A step that may have begun is not repeated: it ends with Unreachable; the next reconnects."""
    relay = own_sshd.relay()
    connection = connect(own_sshd.address(port=relay.port))
    count = own_sshd.home / "count"
    with pytest.raises(Unreachable, match="lost"):
        connection.control(f"echo once >> {count}; kill -s KILL $PPID; sleep 1")
    assert connection.control("echo back").stdout == b"back\n"
    assert count.read_text() == "once\n"
    connection.close()


def test_a_connection_lost_between_steps_is_opened_again(own_sshd: servers.Sshd) -> None:
    """Steps, commands, streams and requests after a drop go over a new connection."""
    connection = connect(own_sshd.address())
    for act in (step, command, lambda each: each.follow("echo x").read(5)):
        connection.control(":")
        own_sshd.drop()
        until(lambda: not own_sshd.sessions(), 5, "the sessions are gone")
        assert act(connection)
    connection.close()


def test_a_dead_host_is_told_when_reconnecting(own_sshd: servers.Sshd) -> None:
    """When nobody is there to reconnect to, the reason is the one of a first connection."""
    connection = connect(own_sshd.address())
    own_sshd.stop()
    with pytest.raises(Unreachable, match="connection refused"):
        until(lambda: connection.control(":").exit != 0, 10, "the connection is refused")
    connection.close()


def test_a_cut_ends_what_was_followed(own_sshd: servers.Sshd) -> None:
    """A command without data does not outlive its connection, even when the network cuts it."""
    relay = own_sshd.relay()
    connection = connect(own_sshd.address(port=relay.port))
    mark = f"67.{os.getpid()}"
    stream = connection.follow(f"echo up; sleep {mark}")
    assert stream.read(5) == b"up\n"
    relay.drop()
    with pytest.raises(Unreachable, match="lost"):
        stream.read(5)
    until(lambda: not running(mark), 5, "the followed command is gone")
    connection.close()


def test_a_closed_connection_says_so(own_sshd: servers.Sshd) -> None:
    """A connection that was closed is not opened again behind one's back."""
    connection = connect(own_sshd.address())
    connection.close()
    with pytest.raises(Unreachable, match="the connection was closed"):
        connection.control(":")


def test_no_session_left(sshd: servers.Sshd) -> None:
    """A server that allows no further session is named with the setting that does."""
    connection = connect(sshd.address())
    streams = [connection.follow("echo x; sleep 30") for _ in range(10)]
    assert [stream.read(5) for stream in streams] == [b"x\n"] * 10
    with pytest.raises(HostError, match="MaxSessions"):
        connection.run("echo x")
    connection.close()
