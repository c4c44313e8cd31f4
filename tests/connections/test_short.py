"""Commands that end at once: their end is waited for before their output, and nothing is lost."""

from __future__ import annotations

import time

import pytest

from relight.connections import Connection, Result


def test_much_output_in_no_time_arrives_whole(connection: Connection) -> None:
    """More than a channel holds, on both streams, from a command that would end at once."""
    result = connection.run("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 3")
    assert (result.exit, len(result.stdout), len(result.stderr)) == (3, 3_000_000, 3_000_000)


@pytest.mark.parametrize("nap", ["", "sleep 0.01; ", "sleep 0.02; ", "sleep 0.05; "])
def test_output_around_the_wait_for_the_end_is_whole(connection: Connection, nap: str) -> None:
    """Whether a command ends within the first wait, with it, or later."""
    text = f"echo a; echo b >&2; {nap}echo c; echo d >&2; exit 5"
    assert [connection.run(text) for _ in range(5)] == [Result(5, b"a\nc\n", b"b\nd\n")] * 5


def test_a_limit_shorter_than_the_first_wait_fires(connection: Connection) -> None:
    """A command that has less time than most need is ended, and said to be late."""
    connection.run(":")
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        connection.run("sleep 60", timeout=0.005)
    assert time.monotonic() - begun < 10


def test_what_a_short_command_left_running_is_not_awaited(connection: Connection) -> None:
    """Its streams stay open, and its result comes all the same."""
    begun = time.monotonic()
    assert connection.run("sleep 20 & echo x").stdout == b"x\n"
    assert time.monotonic() - begun < 15
