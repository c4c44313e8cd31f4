"""Ring 5: relight alone serves the real SGLang, changes it, returns to what was, stops it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import httpx
import pytest

from relight.errors import EXIT_FAILED
from tests.real.questions import is_explained, serves
from tests.real.rig import Rig
from tests.real.server import READY_LINE
from tests.real.streaming import stopped_under_load

pytestmark = pytest.mark.real


@pytest.fixture(scope="module", params=["ssh23", "local10"])
def rig(request: pytest.FixtureRequest) -> Rig:
    """0.5.23 over SSH as an ordinary user, then 0.5.10 through the local connection."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Rig)
    return found


def kept(folder: Path) -> dict[str, str]:
    """Return what a host keeps: each file's digest, each link's target; the server's logs apart."""
    return {
        str(path.relative_to(folder)): (
            str(path.readlink())
            if path.is_symlink()
            else hashlib.sha256(path.read_bytes()).hexdigest()
        )
        for path in sorted(folder.rglob("*"))
        if (path.is_file() or path.is_symlink()) and path.name != "server.log"
    }


def test_serves_proves_measures_and_promotes(rig: Rig) -> None:
    """A first deploy ends in a promoted release that answers, with its pace in `status`."""
    ended = rig.deploy(measure=True)
    assert ended.code == 0, ended.text
    served = rig.served()
    assert served.release == rig.known_good()
    assert f"{served.release} is the known-good" in ended.text
    serves(rig.url)
    status = rig.on("status")
    assert status.code == 0
    row = next(line for line in status.text.splitlines() if line.startswith(rig.host))
    state, release, good = row.split()[2:5]
    assert (state, release, good) == ("running", served.release, "yes")


def test_a_second_deploy_is_ok_and_touches_nothing(rig: Rig) -> None:
    """What serves as asked is left alone: same process, every kept file the same."""
    served, before = rig.ready(), kept(rig.service)
    ended = rig.deploy()
    assert ended.code == 0, ended.text
    assert "changed=0" in ended.text
    assert rig.served() == served
    assert kept(rig.service) == before


def test_what_runs_is_explained_and_measured_as_it_runs(rig: Rig) -> None:
    """Explain, diagnose, flags and bench tell of the server, which is not restarted for it."""
    served = rig.ready()
    is_explained(rig, rig.version, served.release)
    assert rig.served() == served


def test_a_flag_of_another_version_is_refused_before_the_stop(rig: Rig) -> None:
    """The flag's new name is told where it has one, and nothing is stopped for it: exit 2."""
    served = rig.ready()
    renamed = rig.version == "0.5.23"
    asked = "cuda-graph-max-bs=4" if renamed else "cuda-graph-backend-prefill=breakable"
    ended = rig.deploy("--set", asked)
    assert ended.code == EXIT_FAILED, ended.text
    assert f"SGLang {rig.version} has no --{asked.partition('=')[0]}" in ended.text
    assert ("write --cuda-graph-max-bs-decode 4" in ended.text) == renamed
    assert rig.served() == served


def test_a_changed_flag_is_a_new_release_and_rollback_returns(rig: Rig) -> None:
    """Planned without a change, the flag reaches the engine; rollback serves the stored bytes."""
    served, before = rig.ready(), kept(rig.service)
    first = served.release
    change = ("--set", "max-running-requests=4")
    plan = rig.on("plan", *change)
    assert plan.code == 0, plan.text
    assert "--max-running-requests 4" in plan.text
    assert rig.served() == served
    assert kept(rig.service) == before

    script = (rig.service / "releases" / first / "launch.sh").read_bytes()
    ended = rig.deploy(*change)
    assert ended.code == 0, ended.text
    second = rig.served().release
    assert second != first
    assert rig.known_good() == second
    assert httpx.get(f"{rig.url}/server_info", timeout=60).json()["max_running_requests"] == 4

    ended = rig.on("rollback", "--to", first)
    assert ended.code == 0, ended.text
    assert rig.served().release == rig.known_good() == first
    assert (rig.service / "releases" / first / "launch.sh").read_bytes() == script
    assert rig.answers()
    listed = rig.on("releases").text
    assert [line.split()[0] for line in listed.splitlines()[1:3]] == [second, first]


def test_stop_lets_a_running_answer_end_and_leaves_nothing(rig: Rig) -> None:
    """SIGTERM under load: the stream comes to its end; then there is no process, and no port."""
    rig.ready()
    rig.lay(drain="600s")
    try:
        ended = stopped_under_load(rig)
    finally:
        rig.lay()
    assert ended.code == 0, ended.text
    assert "stopped (drained)" in ended.text
    assert rig.processes() == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{rig.url}/health", timeout=10)
    assert "stopped" in rig.on("status").text
    assert READY_LINE in rig.on("logs", "--lines", "400").text


def test_restart_serves_the_same_bytes(local10: Rig) -> None:
    """A service that was stopped comes back with the release that it had."""
    if not local10.releases():
        local10.ready()
    release = local10.known_good()
    ended = local10.on("restart")
    assert ended.code == 0, ended.text
    assert local10.served().release == release
    assert local10.answers()
