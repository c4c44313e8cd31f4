"""A connection that is opened ahead is new, is taken once, and is never left open."""

from __future__ import annotations

import threading

import pytest

from relight.connections import Connection, connect
from relight.connections.anew import Anew
from relight.core.address import Address
from relight.errors import Unreachable
from tests.deadline import until

HERE = Address(name="here", connection="local")


class _Opener:
    """Opens connections to this machine, and remembers them."""

    def __init__(self) -> None:
        self.opened: list[Connection] = []
        self.allowed = threading.Event()
        self.allowed.set()

    def __call__(self) -> Connection:
        assert self.allowed.wait(20)
        self.opened.append(connect(HERE))
        return self.opened[-1]


def _closed(connection: Connection) -> bool:
    """Whether nothing can be started over it any more, or nothing of it is left open."""
    return getattr(connection, "_resident", None) is None


def _nobody_opens() -> bool:
    return all(thread.name != "anew" for thread in threading.enumerate())


def test_it_is_opened_in_the_background_and_taken_once() -> None:
    """Who takes it has the one that was begun, with its shell; the next has another one."""
    opener = _Opener()
    anew = Anew(opener)
    anew.begin()
    first = anew.take()
    assert opener.opened == [first]
    assert not _closed(first), "its shell is not open yet"
    second = anew.take()
    assert opener.opened == [first, second]
    first.close()
    second.close()


def test_it_is_never_older_than_the_last_beginning() -> None:
    """What was begun for a launch that failed is closed, and does not prove the next one."""
    opener = _Opener()
    anew = Anew(opener)
    anew.begin()
    until(_nobody_opens, 20, "the first is open")
    anew.begin()
    taken = anew.take()
    assert len(opener.opened) == 2
    assert taken is opener.opened[1]
    assert _closed(opener.opened[0])
    taken.close()


def test_nobody_waits_for_it_who_does_not_take_it() -> None:
    """To begin and to close return at once, however long the host takes."""
    opener = _Opener()
    opener.allowed.clear()
    anew = Anew(opener)
    anew.begin()
    anew.close()
    assert opener.opened == []
    opener.allowed.set()
    until(_nobody_opens, 20, "the thread that opens has ended")
    assert [_closed(one) for one in opener.opened] == [True]


def test_what_went_wrong_is_told_to_the_taker() -> None:
    """A host that cannot be reached anew is an error there, and not before."""

    def refuse() -> Connection:
        raise Unreachable("here", "it refuses")

    anew = Anew(refuse)
    anew.begin()
    with pytest.raises(Unreachable, match="it refuses"):
        anew.take()


def test_what_nobody_took_is_closed() -> None:
    """A deploy that failed leaves no second connection behind."""
    opener = _Opener()
    anew = Anew(opener)
    anew.begin()
    anew.close()
    anew.close()
    until(_nobody_opens, 20, "the thread that opens has ended")
    assert [_closed(one) for one in opener.opened] == [True]
