"""Ring 5: the port is taken while SGLang 0.5.10 starts; what it then logs is not the truth."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from relight.errors import EXIT_ROLLED_BACK
from tests.breakable_relay import Relay
from tests.deadline import until
from tests.real.project import READINESS
from tests.real.rig import Ended, Rig
from tests.real.server import READY_LINE, serving

pytestmark = pytest.mark.real

START_SECONDS = 300.0


@contextlib.contextmanager
def silent_listener(port: int) -> Iterator[None]:
    """Hold the port, accept, and never answer."""
    with socket.create_server(("127.0.0.1", port)):
        yield


def taken(rig: Rig, taker: Callable[[], AbstractContextManager[object]]) -> Ended:
    """Deploy a changed flag; the port is taken once the new server starts, until it has failed."""
    launch = (rig.service / "last-launch").read_text()
    process = rig.start(
        *("deploy", "--host", rig.host, "--no-benchmark", "--no-preflight"),
        *("--set", "max-running-requests=6"),
    )
    out = process.stdout
    assert out is not None
    said = []
    try:
        until(
            lambda: (rig.service / "last-launch").read_text() != launch,
            START_SECONDS,
            "a new launch",
        )
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


def came_back(rig: Rig, ended: Ended, release: str) -> None:
    """Hold that the known-good serves, nobody else was touched, and the port was named."""
    assert ended.code == EXIT_ROLLED_BACK, ended.text
    assert "port_in_use" in ended.text
    assert f"port {rig.port} is held by another process" in ended.text
    assert rig.served().release == release
    assert rig.answers()


def test_a_silent_listener(local10: Rig) -> None:
    """SGLang logs Errno 98 and never exits; relight gives up, names the holder, goes back."""
    release = local10.ready().release
    local10.lay(readiness=READINESS | {"stall": "60s"})
    try:
        ended = taken(local10, lambda: silent_listener(local10.port))
    finally:
        local10.lay()
    came_back(local10, ended, release)


def test_another_sglang_makes_the_ready_line_lie(local10: Rig, tmp_path: Path) -> None:
    """It warms up against the other server and says it is ready; relight does not believe it."""
    release = local10.ready().release
    launches = local10.service / "launches"
    with serving("0.5.10", tmp_path / "other.log") as other:
        ended = taken(local10, lambda: Relay(("127.0.0.1", other.port), local10.port))
        assert other.process.poll() is None
    came_back(local10, ended, release)
    lied = sorted(launches.iterdir(), key=lambda path: int(path.name))[-2] / "server.log"
    assert READY_LINE in lied.read_text(errors="replace")


def test_a_port_that_is_taken_before(local10: Rig) -> None:
    """With the service stopped and its port taken, nothing is started: the holder is named."""
    local10.ready()
    assert local10.run("stop", "--host", local10.host).code == 0
    with silent_listener(local10.port):
        ended = local10.deploy()
        assert ended.code != 0
        assert "not relight's" in ended.text
        assert local10.processes() == []
