"""Ring 5: a promoted server of SGLang 0.5.10 that breaks, and how it is brought back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import httpx
import pytest

from relight.errors import EXIT_ROLLED_BACK
from tests.real.project import READINESS
from tests.real.rig import Rig

pytestmark = pytest.mark.real

SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "answer",
        "schema": {"type": "object", "properties": {"a": {"type": "string"}}},
    },
}


def kill_scheduler(rig: Rig) -> None:
    """Kill the process that holds the model."""
    os.kill(rig.child("scheduler"), signal.SIGKILL)


def kill_detokenizer(rig: Rig) -> None:
    """Kill the process that turns tokens into text."""
    os.kill(rig.child("detokenizer"), signal.SIGKILL)


def ask_for_json(rig: Rig) -> None:
    """Ask for constrained decoding, which 0.5.10 dies of on the CPU."""
    with pytest.raises(httpx.HTTPError):
        rig.chat(response_format=SCHEMA).raise_for_status()


@pytest.mark.parametrize("act", [kill_scheduler, kill_detokenizer, ask_for_json])
def test_a_dead_server_is_told_and_relit(local10: Rig, act: Callable[[Rig], None]) -> None:
    """`status` says that it is down; the same deploy, `ok` before, starts the same release."""
    before = local10.ready()
    act(local10)
    local10.gone()
    assert "down: exited 137" in local10.run("status", "--host", local10.host).text
    ended = local10.deploy()
    assert ended.code == 0, ended.text
    after = local10.served()
    assert after.release == before.release
    assert after.process != before.process
    assert local10.answers()


def test_a_server_that_hangs_is_told_from_one_that_serves(local10: Rig) -> None:
    """With the scheduler stopped the port still answers; deploy asks for more, and relights it."""
    before = local10.ready()
    stopped = local10.processes()
    os.kill(local10.child("scheduler"), signal.SIGSTOP)
    assert local10.answers()
    ended = local10.deploy()
    assert ended.code == 0, ended.text
    assert "does not answer" in ended.text
    after = local10.served()
    assert after.release == before.release
    assert not set(stopped) & set(local10.processes())
    assert local10.chat().status_code == 200


def test_a_server_that_dies_while_it_settles_is_not_promoted(local10: Rig) -> None:
    """A death after the ready line, within the settle time, ends in the known-good: exit 3."""
    before = local10.ready()
    local10.lay(readiness=READINESS | {"settle": "120s"})
    try:
        words = ("--no-benchmark", "--no-preflight", "--set", "max-running-requests=7")
        process = local10.start("deploy", "--host", local10.host, *words)
        assert process.stdout is not None
        said, killed = "", False
        for line in process.stdout:
            said += line
            # The log is read again only when the proof is over: its stage shows in the settle time.
            if not killed and ": serving (" in line:
                kill_scheduler(local10)
                killed = True
        code = process.wait()
        process.stdout.close()
    finally:
        local10.lay()
    assert killed, said
    assert code == EXIT_ROLLED_BACK, said
    assert local10.served().release == local10.known_good() == before.release
    assert local10.answers()


def test_stop_ends_a_drain_that_never_ends(local10: Rig) -> None:
    """After a request that 0.5.10 refused for its length it drains for ever; relight does not."""
    local10.ready()
    local10.lay(drain="8s")
    try:
        assert (
            local10.chat(messages=[{"role": "user", "content": "a b " * 4000}]).status_code == 400
        )
        ended = local10.run("stop", "--host", local10.host)
    finally:
        local10.lay()
    assert ended.code == 0, ended.text
    assert "stopped (interrupted)" in ended.text or "stopped (killed)" in ended.text
    assert local10.processes() == []
