"""What counts as known-good, case by case, as docs/known-good.md defines it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.deploy.conftest import Rig
from tests.deploy.scenarios import free_port

TEXT_ONLY = {"layers": {"text-only": {"flags": {"language-only": True}}}}


@pytest.fixture(autouse=True)
def _own_port(rig: Rig) -> None:
    """Let no other test take the port between two launches."""
    rig.port = free_port()
    rig.write()


def events(rig: Rig, *names: str) -> list[str]:
    """Return the ledger's events of these names, in their order."""
    return [one.event for one in rig.observed().ledger.entries if one.event in names]


def a_model(rig: Rig, name: str) -> str:
    """Return the path of a model's folder that the engine looks into."""
    folder = rig.home / "models" / name
    folder.mkdir(parents=True)
    config = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 2}
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 8192}))
    return str(folder)


@pytest.mark.parametrize(
    "change",
    [{"model": "standin/other"}, {"flags": {"context-length": 2048}}],
    ids=["another model", "another context"],
)
def test_what_cannot_be_compared_is_promoted_by_the_gates(rig: Rig, change: Any) -> None:
    """Numbers of another model or context are no baseline: the floors alone decide."""
    rig.deploy()
    rig.write(change)
    ended = rig.deploy()
    assert ended.code == 0, ended.everything
    assert "unlike the known-good" in ended.out
    assert rig.observed().confirmed


def test_a_floor_that_is_missed_is_no_known_good(rig: Rig) -> None:
    """Without a baseline the preset's floor decides, and the known-good comes back: exit 3."""
    rig.deploy()
    good = rig.observed().current
    rig.write({"model": "standin/other", "expect": {"tok_s": 1000000}})
    ended = rig.deploy()
    assert ended.code == 3, ended.everything
    assert "below the preset's floor" in ended.out
    assert rig.observed().current == good
    assert rig.observed().confirmed


def test_without_a_benchmark_readiness_alone_promotes(rig: Rig) -> None:
    """--no-benchmark measures nothing: the next release has no numbers to be compared with."""
    rig.deploy("--no-benchmark")
    assert rig.observed().confirmed
    assert events(rig, "promoted", "benchmarked") == ["promoted"]
    ended = rig.deploy("--set", "mem-fraction-static=0.6")
    assert ended.code == 0, ended.everything
    assert "nothing to compare with" in ended.out


def test_a_degraded_release_that_may_not_be_known_good_serves_on(rig: Rig) -> None:
    """promote_degraded: false keeps it serving and the old one as the way back; asked again: ok."""
    rig.deploy("--no-benchmark")
    good = rig.observed().current
    rig.write({**TEXT_ONLY, "promote_degraded": False})
    ended = rig.deploy("--no-benchmark", "--no-preflight")
    assert ended.code == 0, ended.everything
    seen = rig.observed()
    assert seen.known_good == good
    assert seen.current != good
    assert rig.answers() == "tiny"
    again = rig.deploy("--no-benchmark", "--no-preflight")
    assert again.code == 0, again.everything
    assert "changed=0" in again.out
    assert rig.observed().pid == seen.pid
    back = rig.run("rollback", "--host", rig.host)
    assert back.code == 0, back.everything
    assert rig.observed().current == good


def test_a_rollback_of_a_rollback_is_a_rollback_to_a_name(rig: Rig) -> None:
    """What was returned to is the known-good then: going forth again needs the release's name."""
    rig.deploy("--no-benchmark")
    first = rig.observed().current
    rig.deploy("--no-benchmark", "--set", "mem-fraction-static=0.6")
    second = rig.observed().current
    assert first
    assert second
    assert rig.run("rollback", "--host", rig.host, "--to", first).code == 0
    assert rig.observed().known_good == first
    bare = rig.run("rollback", "--host", rig.host)
    assert bare.code == 0
    assert f"serves already; the known-good before it: rollback --to {second}" in bare.out
    assert rig.observed().current == first
    assert rig.run("rollback", "--host", rig.host, "--to", second).code == 0
    seen = rig.observed()
    assert (seen.current, seen.known_good) == (second, second)


def test_a_known_good_whose_model_is_gone_is_told_before_the_stop(rig: Rig) -> None:
    """The way back is looked at first; when it is needed and broken, the end is dark: exit 5."""
    path = a_model(rig, "old")
    rig.write({"model": path})
    assert rig.deploy("--no-benchmark").code == 0
    (rig.home / "models" / "old").rename(rig.home / "models" / "moved")
    crash = {"RELIGHT_STANDIN_SCENARIO": "oom_weights"}
    rig.write({"model": "standin/other", "env": crash})
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 5, ended.everything
    assert f"its model {path} is gone" in ended.out
    assert "DARK" in ended.out


def test_an_engine_that_is_gone_stops_nothing(rig: Rig) -> None:
    """Preflight says so while the old server, already in memory, serves on: exit 2."""
    rig.deploy("--no-benchmark")
    before = rig.observed()
    rig.host_vars["relight_engine"] = {"python": "/nowhere/bin/python"}
    rig.write()
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 2, ended.everything
    assert "the engine does not answer" in ended.out
    after = rig.observed()
    assert (after.pid, after.confirmed) == (before.pid, True)
