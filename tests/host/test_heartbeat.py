"""The controller's side of the lock: a lease that lives with it, and what it learns late."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from relight.core.ledger import Ledger, read_ledger
from relight.core.lost_lock import taken_over
from relight.deploy.session import take_lock
from relight.deploy.target import Target
from relight.errors import Busy
from tests.deadline import until
from tests.deploy.conftest import Rig, rig

__all__ = ["rig"]


@pytest.fixture
def target(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    """A service on this machine, its script shipped and nothing deployed."""
    monkeypatch.setenv("HOME", str(rig.home))
    target = rig.target()
    target.store.status()
    yield target
    until(lambda: not beats(), 30, "the end of every heartbeat")
    target.connection.close()


def beats() -> list[threading.Thread]:
    """Return the heartbeats of this process."""
    return [thread for thread in threading.enumerate() if thread.name == "heartbeat"]


def test_lease_lives_as_long_as_its_holder(target: Target) -> None:
    """A lock is held far beyond its lease without a step being taken, and ends when given back."""
    fence = take_lock(target, "a test", lease=2)
    time.sleep(5)
    assert target.store.status().locked
    target.store.unlock(fence)
    assert not target.store.status().locked


def test_lease_outlives_a_closed_connection(target: Target) -> None:
    """A deploy whose connection was closed, to break off a task, still holds its lock."""
    fence = take_lock(target, "a test", lease=3)
    target.connection.close()
    time.sleep(5)
    assert target.store.status().locked
    target.store.unlock(fence)


def test_busy_names_the_holder(target: Target) -> None:
    """Who is refused learns who holds the service, since when and why."""
    fence = take_lock(target, "deploy tiny", lease=6)
    with pytest.raises(Busy, match=r"held by .*@.* \(process \d+\) since 20.*Z: deploy tiny"):
        take_lock(target, "a second one")
    target.store.unlock(fence)


def ledger(*lines: str) -> Ledger:
    """Return a ledger of `EVENT FENCE` lines that follow fence 3."""
    rows = (line.split() for line in lines)
    text = (f'{{"event":"{event}","fence":{fence},"release":"0001-a-0"}}' for event, fence in rows)
    return read_ledger("\n".join(text))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((), "returns to its known-good by itself"),
        (("deadman_fired 4", "started 4", "rolled_back 4"), "rolled_back 0001-a-0"),
        (("deadman_fired 4",), "under way"),
        (("restarted 4",), "restarted 0001-a-0"),
        (("locked 4",), "another deploy holds"),
        (("locked 4", "deadman_fired 5", "rolled_back 5"), "another deploy holds"),
        (("deadman_fired 4", "kept 4", "locked 5"), "kept 0001-a-0"),
    ],
)
def test_late_controller_learns_what_the_host_did(lines: tuple[str, ...], says: str) -> None:
    """The words for a lost lock come from what the ledger says since."""
    assert says in taken_over(ledger("started 3", *lines), 3)


def test_rig_folder_is_private(target: Target, rig: Rig) -> None:
    """What relight keeps on a host can be read by its user alone."""
    folder = Path(rig.store())
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "host.sh").stat().st_mode & 0o077 == 0
