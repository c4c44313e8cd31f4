"""A measured deploy of the stand-in: what the operator reads, and what the policy makes of it."""

from __future__ import annotations

from typing import Any

from relight.errors import EXIT_FAILED, EXIT_ROLLED_BACK
from tests.deploy.conftest import Rig

# Enough requests for a verdict; twice the time of a round is beyond any doubt.
PLAN = {"requests": 3, "max_tokens": 64}


def paced(step_ms: int, **policy: str) -> dict[str, Any]:
    """Return a preset whose server takes so long for a round."""
    return {"env": {"RELIGHT_STANDIN_STEP_MS": str(step_ms)}, "benchmark": {**PLAN, **policy}}


def test_a_slower_release_is_undone_unless_the_policy_keeps_it(rig: Rig) -> None:
    """Figures of the first run, then worse: rolled back and told everywhere, or kept as asked."""
    rig.write(paced(10))
    first = rig.deploy()
    assert first.code == 0, first.everything
    assert "measured by the probe" in first.out
    assert "tok/s, one stream" in first.out
    good = rig.observed().known_good
    assert good is not None

    rig.write(paced(20))
    ended = rig.deploy()
    assert ended.code == EXIT_ROLLED_BACK, ended.everything
    assert "worse than the known-good: step time 20." in ended.out
    assert "(on_worse: rollback)" in ended.out
    assert rig.observed().current == rig.observed().known_good == good
    assert rig.answers() == "tiny"
    assert "Benchmark worse" in rig.run("status", "--host", rig.host).out

    history = rig.run("bench", "--host", rig.host, "--history").out
    slower = next(line for line in history.splitlines() if line.startswith("0002-"))
    assert slower.split()[-1] == "worse"
    assert "accept length" not in history
    compared = rig.run("bench", "--host", rig.host, "--compare", f"1..{slower.split()[0]}").out
    assert f"{slower.split()[0]}: worse than {good}: step time 20." in compared

    rig.write(paced(20, on_worse="keep"))
    kept = rig.deploy()
    assert kept.code == 0, kept.everything
    assert "(on_worse: keep)" in kept.out
    assert rig.observed().known_good == slower.split()[0]


def test_compare_wants_releases_that_were_measured(rig: Rig) -> None:
    """A number without a run is told with those that there are."""
    rig.write(paced(1))
    assert rig.deploy().code == 0
    ended = rig.run("bench", "--host", rig.host, "--compare", "1..7")
    assert ended.code == EXIT_FAILED
    assert "'7' names no measured release; measured: 0001-" in ended.everything
