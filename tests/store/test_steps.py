"""Steps that share a round trip keep their own exit status, streams and shell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relight.connections import Connection, connect
from relight.core.address import Address
from relight.errors import HostError
from relight.store.steps import in_one


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    """Return one connection to this machine."""
    opened = connect(Address(name="here", connection="local"))
    yield opened
    opened.close()


def test_each_step_has_its_own_end(connection: Connection) -> None:
    """Both streams of each step come apart, though all came with one answer."""
    before = connection.round_trips
    found = in_one(connection, ["printf out; printf err >&2", "cd /; pwd", "printf '%s' \"$PWD\""])
    assert [one.out for one in found][:2] == ["out", "/\n"]
    assert [one.err for one in found] == ["err", "", ""]
    assert found[2].out != "/", "a step changed the folder of the next"
    assert connection.round_trips - before <= 2  # the first opens the shell


def test_a_failed_step_is_the_last(connection: Connection) -> None:
    """What stands behind a step that failed or left does not run."""
    found = in_one(connection, [":", "echo so far; exit 7", "echo never"])
    assert [(one.exit, one.out) for one in found] == [(0, ""), (7, "so far\n")]


def test_steps_share_their_stdin(connection: Connection) -> None:
    """Each takes from the data what it asks for, and leaves the rest to the next."""
    data = b"\x00\xffabc" * 3000
    found = in_one(connection, ["head -c 5 | wc -c", "wc -c"], data=data)
    assert [int(one.out) for one in found] == [5, len(data) - 5]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(st.binary(max_size=40).map(bytes.hex), min_size=1, max_size=4))
def test_what_steps_print_is_theirs(connection: Connection, texts: list[str]) -> None:
    """No output is lost and none is another step's, with and without a newline at its end."""
    found = in_one(connection, [f"printf '{text}'" for text in texts])
    assert [one.out for one in found] == texts


def test_a_step_that_cannot_be_read_is_an_error(connection: Connection) -> None:
    """A step that leaves the text unfinished is told as what the shell says of it."""
    with pytest.raises(HostError, match="broke off"):
        in_one(connection, ["echo 'open"])
