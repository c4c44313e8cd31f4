"""A fire drill beside a service: it plays its scenario, touches nothing, and leaves nothing."""

from __future__ import annotations

import json

import pytest

from relight.deploy.rehearsal import plays
from relight.errors import UsageError
from tests.deploy.conftest import Rig

pytestmark = pytest.mark.scenarios


def kept(rig: Rig) -> set[str]:
    """Return what relight keeps on the host, by name."""
    return {one.name for one in (rig.home / ".relight").iterdir()}


def test_a_drill_plays_beside_the_service(rig: Rig) -> None:
    """The service's process, files and port stay; the drill's folder is gone; the code is told."""
    rig.deploy("--no-benchmark")
    before, files = rig.observed(), kept(rig)
    words = (
        "rehearse",
        "--host",
        rig.host,
        "--scenario",
        "oom_weights",
        "--speed",
        "0.3",
        "--json",
    )
    ended = rig.run(*words)
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.code == 3, ended.everything
    failures = [one["diagnosis"]["failure"] for one in events if one.get("diagnosis")]
    assert set(failures) == {"oom_weights"}
    after = rig.observed()
    assert (after.pid, after.launch, after.current) == (before.pid, before.launch, before.current)
    assert rig.answers() == "tiny"
    assert kept(rig) == files


def test_a_host_without_a_service_can_rehearse(rig: Rig) -> None:
    """A layer that is to blame is dropped: degraded, exit code 0, and nothing stays."""
    rig.host_vars["relight_engine"] = {"python": "/nowhere/python"}
    rig.write()
    scenario = "unattributed_crash:when=enable-mixed-chunk"
    words = ("rehearse", "--host", rig.host, "--scenario", scenario, "--speed", "0.3")
    ended = rig.run(*words)
    assert ended.code == 0, ended.everything
    assert "degraded=1" in ended.out
    assert not any((rig.home / ".relight").iterdir())


def test_a_name_that_is_no_scenario_is_refused(rig: Rig) -> None:
    """Before anything is sent, with the names that there are."""
    ended = rig.run("rehearse", "--host", rig.host, "--scenario", "fire")
    assert ended.code == 2
    assert "no scenario is called 'fire'" in ended.everything
    assert not (rig.home / ".relight").exists()


def test_a_service_of_that_name_is_left_alone(rig: Rig) -> None:
    """A host that has a service `rehearsal` does not lend its folder."""
    rig.write(None, rehearsal={"preset": "tiny", "port": 0})
    ended = rig.run("rehearse", "--host", rig.host, "--scenario", "garbage")
    assert ended.code == 2
    assert "rename it" in ended.everything


def test_scenarios_play_in_the_second_deploy() -> None:
    """A condition is added to each part; what strikes a stop plays from the first on."""
    assert plays("garbage") == "garbage:when=random-seed"
    assert plays("oom_pool:when=a<1, slow_drain") == "oom_pool:when=a<1:when=random-seed,slow_drain"
    with pytest.raises(UsageError, match="needs --scenario"):
        plays(" ")
