"""One command's channel: what came is seen at once, whether or not paramiko says that it came."""

from __future__ import annotations

import time

import pytest

from relight.connections.channel import ChannelPipe
from relight.connections.login import log_in
from tests import sshd as servers
from tests.deadline import until

pytestmark = pytest.mark.ssh


def test_what_came_is_read_without_a_wake_up(sshd: servers.Sshd) -> None:
    """A lost wake-up (both streams at once, under load) costs no wait for the whole limit."""
    login = log_in(sshd.address())
    pipe = ChannelPipe("box", login, "echo word >&2; sleep 60", lambda: None)
    channel = pipe._channel  # the race itself can be timed by no test
    until(channel.recv_stderr_ready, 10, "a word on stderr")
    channel.fileno()  # paramiko's wake-ups come from here on
    channel._pipe.clear()  # type: ignore[attr-defined]
    began = time.monotonic()
    assert pipe.read(10).err == b"word\n"
    assert time.monotonic() - began < 5
    login.close()
