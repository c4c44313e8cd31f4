"""Ring 5: another has the port that SGLang 0.5.10 is to have; what it then logs is not the truth.

Each on a host where nothing is known to be good yet, so that no start is spent on the way back.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from relight.errors import EXIT_DARK, EXIT_FAILED
from tests.breakable_relay import Relay
from tests.deadline import until
from tests.real.project import READINESS
from tests.real.rig import Ended, Rig, rig_in
from tests.real.server import READY_LINE

pytestmark = pytest.mark.real

START_SECONDS = 300.0


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Rig]:
    """A host with 0.5.10 on which nothing was deployed."""
    rig = rig_in(tmp_path, "0.5.10")
    rig.lay(readiness=READINESS | {"stall": "60s"})
    yield rig
    rig.end()


@contextlib.contextmanager
def silent_listener(port: int) -> Iterator[None]:
    """Hold the port, accept, and never answer."""
    with socket.create_server(("127.0.0.1", port)):
        yield


def taken(rig: Rig, taker: Callable[[], AbstractContextManager[object]]) -> Ended:
    """Deploy; the port is taken once the server starts, until relight has given up on it."""
    process = rig.start("deploy", "--host", rig.host, "--no-benchmark", "--no-preflight")
    out = process.stdout
    assert out is not None
    said = []
    try:
        launches = rig.service / "launches"
        until(lambda: any(launches.glob("*/pid")), START_SECONDS, "a launch")
        with taker():
            for line in out:
                said.append(line)
                if "attempt 1 is " in line:
                    break
        said += out.readlines()
        return Ended(process.wait(), "".join(said))
    finally:
        process.kill()
        process.wait()
        out.close()


def is_not_believed(rig: Rig, ended: Ended) -> None:
    """Hold that the port was named as the reason, and that nothing of the start is left."""
    assert ended.code == EXIT_DARK, ended.text
    assert "port_in_use" in ended.text
    assert f"port {rig.port} is held by another process" in ended.text
    assert rig.processes() == []


def test_a_silent_listener(fresh: Rig) -> None:
    """SGLang logs Errno 98 and never exits; relight gives up and names the holder."""
    is_not_believed(fresh, taken(fresh, lambda: silent_listener(fresh.port)))


def test_another_sglang_makes_the_ready_line_lie(fresh: Rig, local10: Rig) -> None:
    """It warms up against the other server and says it is ready; relight does not believe it."""
    other = local10.ready()
    ended = taken(fresh, lambda: Relay(("127.0.0.1", local10.port), fresh.port))
    is_not_believed(fresh, ended)
    assert READY_LINE in fresh.log().read_text(errors="replace")
    assert local10.served() == other
    assert local10.answers()


def test_a_port_that_is_taken_before(fresh: Rig) -> None:
    """Nothing is started, and the holder is named: exit 2."""
    with silent_listener(fresh.port):
        ended = fresh.deploy()
    assert ended.code == EXIT_FAILED, ended.text
    assert "not relight's" in ended.text
    assert fresh.processes() == []
    assert not (fresh.service / "launches").exists()
