"""A host remembers what its engine build rejected: one failed launch teaches every later deploy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relight.deploy.remembered import flag_history
from tests.deploy.conftest import Rig
from tests.deploy.scenarios import free_port

LAYER = {"layers": {"chunk": {"flags": {"enable-mixed-chunk": True}}}}
CRASH = {"RELIGHT_STANDIN_SCENARIO": "unattributed_crash:when=enable-mixed-chunk"}


@pytest.fixture(autouse=True)
def _own_port(rig: Rig) -> None:
    """Let no other test take the port between two launches."""
    rig.port = free_port()
    rig.write()


def launches(rig: Rig) -> int:
    """Return how many launches the service has had."""
    return rig.observed().launch


def memory(rig: Rig) -> list[Path]:
    """Return the files of the host's memory, one a build."""
    return sorted((rig.home / ".relight" / "memory").glob("*.jsonl"))


def test_a_rejected_layer_is_dropped_before_the_stop_next_time(rig: Rig) -> None:
    """Learnt by a crash, recalled with reason and date, forgotten with --retry-layers."""
    rig.write({**LAYER, "env": CRASH})
    assert rig.deploy("--no-benchmark").code == 0
    assert launches(rig) == 2
    (file,) = memory(rig)
    (line,) = file.read_text().splitlines()
    kept = json.loads(line)
    assert (kept["what"], kept["name"], kept["proof"]) == ("layer", "chunk", "ready without it")

    again = rig.deploy("--no-benchmark", "--set", "mem-fraction-static=0.6")
    assert again.code == 0, again.everything
    assert launches(rig) == 3
    assert f"known since {kept['at'][:10]}" in again.out
    assert "--retry-layers" in again.out
    assert "degraded=1" in again.out
    release = rig.observed().release
    assert release is not None
    assert [one.what for one in release.gave_up] == ["layer chunk"]

    target = rig.target()
    (told,) = flag_history(target, "enable-mixed-chunk")
    target.connection.close()
    assert told.build == file.stem
    assert told.rejection.failure == "graph_capture"

    words = ("--no-benchmark", "--set", "mem-fraction-static=0.6", "--retry-layers")
    retried = rig.deploy(*words)
    assert retried.code == 0, retried.everything
    assert "is forgotten" in retried.out
    assert launches(rig) == 5


def test_another_build_does_not_inherit_it(rig: Rig) -> None:
    """A version that fixed it gets the layer again: its memory is another file."""
    rig.write({**LAYER, "env": CRASH})
    rig.deploy("--no-benchmark")
    rig.host_vars["relight_engine"] = {
        "python": "python3",
        "archive": "standin:0.5.23",
        "env": {"RELIGHT_STANDIN_SPEED": "0.5"},
    }
    rig.write({**LAYER, "env": {"SOME": "thing"}})
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    assert "known since" not in ended.out
    release = rig.observed().release
    assert release is not None
    assert release.recipe.layers == ("chunk",)


def test_a_torn_or_hostile_memory_stops_nothing(rig: Rig) -> None:
    """Lines that are no rejections are passed over; nothing in them is run or believed."""
    rig.deploy("--no-benchmark")
    folder = rig.home / ".relight" / "memory"
    folder.mkdir()
    for name in ("sglang-0.5.10-x", "$(touch pwned)", "-n"):
        (folder / f"{name}.jsonl").write_text('{"torn\n$(touch pwned)\n\x00\n')
    target = rig.target()
    assert flag_history(target, "enable-mixed-chunk") == ()
    target.connection.close()
    assert rig.deploy("--no-benchmark", "--set", "mem-fraction-static=0.6").code == 0
    assert not list(rig.home.rglob("pwned"))
