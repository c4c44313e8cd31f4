"""A port that another takes while the engine starts: whichever way it ends, the taker is named."""

from __future__ import annotations

import os
import socket

import pytest

from relight.errors import EXIT_DARK
from tests.deadline import until
from tests.deploy.conftest import FAST, Rig


@pytest.mark.parametrize("scenario", ["port_in_use", "ready_line_lies"])
def test_who_took_the_port_is_named(rig: Rig, scenario: str) -> None:
    """The engine stays for ever, or says that it is ready and ends: the holder is told with it."""
    env = FAST | {"RELIGHT_STANDIN_SPEED": "3", "RELIGHT_STANDIN_SCENARIO": scenario}
    rig.host_vars = {"relight_engine": {"python": "python3", "archive": "standin", "env": env}}
    rig.write()
    process = rig.start("deploy", "--host", rig.host, "--no-benchmark", "--no-preflight")
    until(lambda: any(rig.store().glob("launches/*/pid")), 60, "a launch")
    with socket.create_server(("127.0.0.1", rig.port)):
        out, err = process.communicate(timeout=120)
    assert process.returncode == EXIT_DARK, out + err
    assert "port_in_use" in out
    assert f"port {rig.port} is held by another process: pid {os.getpid()}" in out
