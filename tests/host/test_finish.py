"""Steps of the host that do several things at once: finish, lock with a look, stop, confirm."""

from __future__ import annotations

import os
import socket

import pytest

from relight.core.observed import read_status
from tests.host.served import Served

_ENGINE = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


def test_nothing_begun_is_unlocked(served: Served) -> None:
    """A deploy that only took the lock gives it back."""
    served.lock()
    assert served.do("finish") == "untouched"
    assert not served.observed().locked


def test_a_dead_deploys_deadman_acts(served: Served) -> None:
    """What a deploy inherits armed and does not touch stays armed: unlocking lets it act."""
    served.lock()
    served.start("0001-a-0", _ENGINE)
    served.do("arm", 600)
    served.do("unlock")
    served.lock()
    assert served.do("finish") == "untouched"
    assert (served.folder / "deadman").exists()


def test_a_start_without_an_end_stays_held(served: Served) -> None:
    """A launch that was neither confirmed nor rolled back is told as begun, and nothing changes."""
    served.lock()
    served.start("0001-a-0", _ENGINE)
    assert served.do("finish") == "begun"
    assert served.observed().locked


@pytest.mark.parametrize("end", ["promoted", "confirmed", "kept", "rolled_back"])
def test_an_end_of_this_deploy_lets_go(served: Served, end: str) -> None:
    """Each way to end a deploy disarms its dead-man and gives the lock back."""
    served.lock()
    served.start("0001-a-0", _ENGINE)
    served.do("arm", 600)
    served.do("record", end, '"release":"0001-a-0"')
    assert served.do("finish") == "settled"
    assert not served.observed().locked
    assert not (served.folder / "deadman").exists()


def test_an_end_of_another_deploy_is_none(served: Served) -> None:
    """What an earlier deploy confirmed, or a text that looks like it, says nothing of this one."""
    served.lock()
    served.do("record", "promoted")
    served.do("unlock")
    served.lock()
    served.start("0001-a-0", _ENGINE)
    served.do("record", "failed", '"evidence":"{\\"event\\":\\"promoted\\",\\"fence\\":2}"')
    assert served.do("finish") == "begun"


def test_lock_shows_how_the_service_stands(served: Served) -> None:
    """Given a port, the fence comes with the state under it."""
    fence, _, seen = served.good("lock", 60, '{"who":"anna"}', 0).partition("\n")
    observed = read_status(seen)
    assert observed.fence == int(fence)
    assert observed.locked


def test_stop_arms_first_and_looks_at_the_port_last(served: Served) -> None:
    """One step arms the dead-man, stops the server and tells who else holds its port then."""
    served.lock()
    served.start("0001-a-0", _ENGINE)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        how, _, seen = served.do("stop", 5, 600, port).partition("\n")
    assert how == "drained"
    (foreign,) = read_status(seen).foreign
    assert str(os.getpid()) in foreign
    assert (served.folder / "deadman").exists()


def test_confirm_promotes_and_disarms(served: Served) -> None:
    """One step makes the running release the known-good and takes the dead-man away."""
    served.lock()
    served.start("0001-a-0", _ENGINE)
    served.do("arm", 600)
    served.do("confirm", "0001-a-0", 10)
    assert served.observed().known_good == "0001-a-0"
    assert not (served.folder / "deadman").exists()
    assert "promoted" in served.events()
