"""The end of a TCP connection is seen as soon as it has come, not when somebody reads so far."""

from __future__ import annotations

import socket

from relight.connections.wire import Wire


def test_an_end_that_nobody_read_yet_is_seen() -> None:
    """What the peer sent before its end is still to be read, and is not an end."""
    ours, theirs = socket.socketpair()
    ours.settimeout(0.1)
    wire = Wire(ours)
    assert not wire.ended
    theirs.sendall(b"x")
    assert not wire.ended
    theirs.close()
    assert not wire.ended
    assert wire.recv(1) == b"x"
    assert wire.ended
    ours.close()
    assert wire.ended


def test_a_gateways_channel_tells_nothing() -> None:
    """What is no socket is left to the transport."""
    assert not Wire(object()).ended
