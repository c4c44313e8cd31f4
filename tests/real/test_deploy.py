"""Ring 5: relight alone serves the real SGLang, changes it, returns to what was, stops it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import httpx
import pytest

from tests.real.rig import Rig

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
    answer = rig.chat().json()
    assert answer["usage"]["completion_tokens"] == 16
    status = rig.run("status", "--host", rig.host)
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


def test_a_plan_shows_the_changed_flag_and_changes_nothing(rig: Rig) -> None:
    """`plan` prints the line that changes; releases and server stay as they are."""
    served, before = rig.ready(), kept(rig.service)
    ended = rig.run("plan", "--host", rig.host, "--set", "max-running-requests=4")
    assert ended.code == 0, ended.text
    assert "--max-running-requests 4" in ended.text
    assert rig.served() == served
    assert kept(rig.service) == before


def test_a_changed_flag_is_a_new_release_and_rollback_returns(rig: Rig) -> None:
    """The flag reaches the engine; `rollback --to` serves the first release's stored bytes."""
    first = rig.ready().release
    script = (rig.service / "releases" / first / "launch.sh").read_bytes()
    ended = rig.deploy("--set", "max-running-requests=4")
    assert ended.code == 0, ended.text
    second = rig.served().release
    assert second != first
    assert rig.known_good() == second
    assert httpx.get(f"{rig.url}/server_info", timeout=60).json()["max_running_requests"] == 4

    ended = rig.run("rollback", "--host", rig.host, "--to", first)
    assert ended.code == 0, ended.text
    assert rig.served().release == rig.known_good() == first
    assert (rig.service / "releases" / first / "launch.sh").read_bytes() == script
    assert rig.answers()
    listed = rig.run("releases", "--host", rig.host).text
    assert [line.split()[0] for line in listed.splitlines()[1:3]] == [second, first]


def test_stop_leaves_nothing_and_restart_brings_it_back(rig: Rig) -> None:
    """A stopped service has no process and no port, and says so; restart serves the same bytes."""
    release = rig.ready().release
    ended = rig.run("stop", "--host", rig.host)
    assert ended.code == 0, ended.text
    assert rig.processes() == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{rig.url}/health", timeout=10)
    assert "stopped" in rig.run("status", "--host", rig.host).text
    log = rig.run("logs", "--host", rig.host, "--lines", "400").text
    assert "The server is fired up and ready to roll!" in log

    ended = rig.run("restart", "--host", rig.host)
    assert ended.code == 0, ended.text
    assert rig.served().release == release
    assert rig.answers()
