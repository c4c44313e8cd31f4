"""A command that runs when its connection is closed, or is told to end, leaves nothing behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from relight.connections import Connection, Result
from relight.errors import RelightError


def _alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("data", [b"", b"some input"], ids=["alone", "fed"])
@pytest.mark.parametrize("act", ["end", "close"])
def test_what_runs_ends(connection: Connection, tmp_path: Path, act: str, data: bytes) -> None:
    """The command, its children and its children's children are gone; `run` returns."""
    tmp_path.chmod(0o777)
    told = tmp_path / "pids"
    ended: list[Result | Exception] = []

    def work() -> None:
        text = f"sh -c 'sleep 5432.1 & echo $! > {told}; wait' & echo $! >> {told}.2; wait"
        try:
            ended.append(connection.run(text, data=data))
        except (RelightError, TimeoutError) as error:
            ended.append(error)

    running = threading.Thread(target=work, daemon=True)
    running.start()
    _until(lambda: told.exists() and told.read_text().endswith("\n"))
    pid = int(told.read_text())
    assert _alive(pid)
    getattr(connection, act)()
    _until(lambda: not _alive(pid))
    running.join(20)
    assert not running.is_alive()
    assert len(ended) == 1
    assert not isinstance(ended[0], Result) or ended[0].exit != 0


def test_a_connection_goes_on_after_its_commands_were_ended(connection: Connection) -> None:
    """`end` ends what runs and nothing else: steps and commands work afterwards."""
    connection.control(":")
    connection.end()
    assert connection.control("echo step").out == "step\n"
    assert connection.run("echo run").out == "run\n"


@pytest.mark.parametrize("wait", [0.0, 0.005, 0.02, 0.1])
def test_a_fed_command_ends_however_early_it_is_told_to(
    connection: Connection, wait: float
) -> None:
    """Also before its session was read from what it prints: nothing but its end would tell it."""
    ended: list[Result] = []
    running = threading.Thread(
        target=lambda: ended.append(connection.run("sleep 4321", data=b"x")), daemon=True
    )
    running.start()
    _until(lambda: bool(connection._running))  # type: ignore[attr-defined]
    time.sleep(wait)
    connection.end()
    running.join(20)
    assert not running.is_alive()
    assert ended[0].exit
