"""Channels opened ahead: a command waits for its answer only, and no server runs out earlier."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from relight.connections import Connection, Result, connect, sessions
from relight.connections.channel import ChannelPipe
from relight.connections.login import log_in
from relight.errors import HostError, Unreachable
from tests import sshd as servers
from tests.deadline import until

pytestmark = pytest.mark.ssh


def waits(connection: Connection) -> int:
    """Run a command; return the waits that were counted."""
    before = connection.round_trips
    assert connection.run("echo x") == Result(0, b"x\n", b"")
    return connection.round_trips - before


def test_a_further_command_takes_one_round_trip(sshd: servers.Sshd) -> None:
    """The first opens its channel; those that follow have one that was opened meanwhile."""
    connection = connect(sshd.address())
    assert waits(connection) == 2
    for _ in range(3):
        until(lambda: waits(connection) == 1, 10, "a command takes one round trip")
    connection.close()


def test_a_command_after_a_step_takes_one_round_trip(sshd: servers.Sshd) -> None:
    """The resident shell's opening is a reason to open the next channel too."""
    login = log_in(sshd.address())
    ChannelPipe("box", login, "true", lambda: None)
    until(lambda: login.sessions.ready, 10, "the next channel is open")
    login.close()


def test_what_is_ready_is_taken_without_a_wait(sshd: servers.Sshd) -> None:
    """The channel that was opened ahead is used once, and then another one has to be opened."""
    login, counted = log_in(sshd.address()), Counter[str]()
    login.sessions.open_ahead()
    login.sessions.open_ahead()
    until(lambda: login.sessions.ready, 10, "the next channel is open")
    first = login.sessions.take(lambda: counted.update(["wait"]))
    assert (counted["wait"], login.sessions.ready) == (0, False)
    second = login.sessions.take(lambda: counted.update(["wait"]))
    assert counted["wait"] == 1
    assert first.chanid != second.chanid
    login.close()


def test_what_waited_for_long_is_not_used(
    sshd: servers.Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers may close idle channels: after a minute another one is opened, this one closed."""
    login, counted = log_in(sshd.address()), Counter[str]()
    login.sessions.open_ahead()
    until(lambda: login.sessions.ready, 10, "the next channel is open")
    monkeypatch.setattr(sessions, "_FRESH", 0.0)
    assert not login.sessions.take(lambda: counted.update(["wait"])).closed
    assert counted["wait"] == 1
    login.close()


def test_nothing_is_opened_ahead_once_it_is_closed(sshd: servers.Sshd) -> None:
    """The thread that opens ends with its connection."""
    before = set(threading.enumerate())
    login = log_in(sshd.address())
    login.sessions.open_ahead()
    login.close()
    login.sessions.open_ahead()
    assert not login.sessions.ready
    until(lambda: not set(threading.enumerate()) - before, 10, "every thread is gone")


def test_commands_at_once_share_nothing(sshd: servers.Sshd) -> None:
    """Streams and commands that begin together have a channel each."""
    connection = connect(sshd.address())
    streams = [connection.follow(f"echo {number}; sleep 30") for number in range(5)]
    assert connection.run("cat", data=b"fed").stdout == b"fed"
    assert [stream.read(5) for stream in streams] == [b"0\n", b"1\n", b"2\n", b"3\n", b"4\n"]
    connection.close()


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_session_is_lost_to_what_is_opened_ahead(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server's MaxSessions is used to the last: the channel opened ahead is the next to go."""
    server = servers.start(tmp_path / "sshd", sessions=most)
    monkeypatch.setenv("HOME", str(server.home))
    try:
        connection = connect(server.address())
        streams = []
        for _ in range(most):
            assert [connection.run("echo x").out for _ in range(3)] == ["x\n"] * 3
            streams.append(connection.follow("echo y; sleep 30"))
            assert streams[-1].read(5) == b"y\n"
        with pytest.raises(HostError, match="MaxSessions"):
            connection.run("echo x")
        streams.pop().close()
        until(lambda: _answers(connection), 10, "a session is free")
        connection.close()
    finally:
        server.stop()


def _answers(connection: Connection) -> bool:
    try:
        return connection.run("echo x").out == "x\n"
    except HostError:
        return False


def test_what_was_opened_ahead_is_forgotten_with_its_connection(own_sshd: servers.Sshd) -> None:
    """After a loss the next command goes over a new connection, and so do those behind it."""
    connection = connect(own_sshd.address())
    assert waits(connection) == 2
    own_sshd.drop()
    until(lambda: not own_sshd.sessions(), 10, "the server let go")
    assert connection.run("echo x").out == "x\n"
    until(lambda: waits(connection) == 1, 10, "a command takes one round trip")
    connection.close()


def test_a_server_that_falls_silent_is_noticed_in_time(own_sshd: servers.Sshd) -> None:
    """Whether or not a channel was being opened ahead, the wait has its limit."""
    connection = connect(own_sshd.address(timeout=1.0))
    assert connection.run("echo x").out == "x\n"
    with own_sshd.silent():
        begun = time.monotonic()
        with pytest.raises(Unreachable):
            connection.run("echo x")
        assert time.monotonic() - begun < 8
    connection.close()
