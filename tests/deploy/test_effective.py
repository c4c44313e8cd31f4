"""What is in effect is kept with its release: shown while it is down, compared at a deploy."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from relight.core.effective import read_effective
from tests.deploy.conftest import Rig


@pytest.fixture
def main() -> dict[str, Any]:
    """Return a service at a port that nobody else's test takes."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return {"preset": "tiny", "port": taken.getsockname()[1]}


def stored(rig: Rig) -> Path:
    """Return the file that the current release's effect is kept in."""
    return rig.store() / "effective" / f"{rig.observed().current}.json"


def test_what_is_in_effect_is_kept_without_secrets(rig: Rig, main: dict[str, Any]) -> None:
    """The flags that were asked for, the server's own account, private, no secret in it."""
    flags = {"context-length": 4096, "max-running-requests": 16}
    rig.env["SERVER_KEY"] = "hunter2"
    rig.write({"flags": flags, "secret_flags": {"api-key": {"env": "SERVER_KEY"}}}, main=main)
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    file = stored(rig)
    kept = read_effective(file.read_text())
    assert kept is not None
    groups = kept.explanation
    assert {one.flag for one in (*groups.kept, *groups.lost)} == {
        "context-length",
        "max-running-requests",
    }
    assert kept.info["context_length"] == 4096
    assert "hunter2" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_explain_tells_what_was_while_it_is_down(rig: Rig, main: dict[str, Any]) -> None:
    """After `stop`, explain shows what was kept, and says that it is no live answer."""
    rig.write(None, main=main)
    rig.deploy("--no-benchmark")
    live = rig.run("explain", "--host", rig.host)
    assert rig.run("stop", "--host", rig.host).code == 0
    told = rig.run("explain", "--host", rig.host)
    assert told.code == 0, told.everything
    assert "does not run; this is how it was at" in told.out
    assert "--context-length" in live.out
    assert "--context-length" in told.out
    one = rig.run("explain", "--host", rig.host, "--flag", "--mem-fraction-static")
    assert "--mem-fraction-static" in one.out
    assert "--context-length" not in one.out


def test_a_deploy_shows_only_what_changed_in_effect(rig: Rig, main: dict[str, Any]) -> None:
    """The flag that changed, before and now; not the one that stayed."""
    rig.write(None, main=main)
    rig.deploy("--no-benchmark")
    before = rig.observed().current
    ended = rig.deploy("--no-benchmark", "--json", "--set", "mem-fraction-static=0.6")
    assert ended.code == 0, ended.everything
    events = [json.loads(line) for line in ended.out.splitlines()]
    (table,) = [one for one in events if one["kind"] == "table"]
    assert f"in effect, against {before}" in table["title"]
    assert [row[:3] for row in table["rows"]] == [["--mem-fraction-static", "0.5", "0.6"]]


def test_what_cannot_be_kept_changes_no_outcome(rig: Rig, main: dict[str, Any]) -> None:
    """A file where the folder should be: a warning, and the release is promoted all the same."""
    rig.write(None, main=main)
    rig.store().mkdir(parents=True)
    (rig.store() / "effective").write_text("in the way")
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    assert "what this start showed was not kept" in ended.everything
    assert rig.observed().confirmed


def test_a_hostile_account_is_shown_as_text(rig: Rig, main: dict[str, Any]) -> None:
    """What lies on the host is data: torn files count as none, control characters go nowhere."""
    rig.write(None, main=main)
    rig.deploy("--no-benchmark")
    assert rig.run("stop", "--host", rig.host).code == 0
    file = stored(rig)
    told = json.loads(file.read_text())
    told["explanation"]["lost"] = [{"flag": "x", "requested": "\x1b[2J$(id)", "why": "\x07w"}]
    file.write_text(json.dumps(told))
    shown = rig.run("explain", "--host", rig.host).out
    assert "[2J$(id)" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown
    file.write_text("{torn")
    ended = rig.run("explain", "--host", rig.host)
    assert ended.code == 2
    assert "nothing was kept" in ended.err


def test_a_flag_comes_with_its_history_on_this_host(rig: Rig, main: dict[str, Any]) -> None:
    """What a launch proved against a flag is told by explain, with its build."""
    crash = {"RELIGHT_STANDIN_SCENARIO": "unattributed_crash:when=enable-mixed-chunk"}
    layers = {"chunk": {"flags": {"enable-mixed-chunk": True}}}
    rig.write({"layers": layers, "env": crash}, main=main)
    assert rig.deploy("--no-benchmark").code == 0
    told = rig.run("explain", "--host", rig.host, "--flag", "enable-mixed-chunk")
    assert told.code == 0, told.everything
    assert "--enable-mixed-chunk on this host" in told.out
    assert "layer chunk ready without it" in told.out


def test_what_an_interrupted_deploy_left_is_explained_too(rig: Rig, main: dict[str, Any]) -> None:
    """A server that is proved without being started anew has its effect kept as well."""
    rig.write(None, main=main)
    rig.deploy("--no-benchmark")
    before, file = rig.observed(), stored(rig)
    file.unlink()
    (rig.store() / "known-good").unlink()
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    assert rig.observed().pid == before.pid
    assert read_effective(file.read_text()) is not None
