"""The way back is told when it is broken, before anything stops; promotion unlocks."""

from __future__ import annotations

from pathlib import Path

from tests.deploy.conftest import Rig

DARK = "a launch that fails will leave this service dark"


def model(folder: Path) -> Path:
    """Make a folder that passes for a model."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder


def test_a_known_good_whose_model_is_gone_is_told_before_the_stop(rig: Rig) -> None:
    """The old release's model was taken away: plan and deploy both name it; neither is stopped."""
    old, new = model(rig.home / "old"), model(rig.home / "new")
    rig.write({"model": str(old)})
    first = rig.deploy("--no-benchmark")
    assert first.code == 0, first.everything
    assert DARK not in first.everything
    (old / "config.json").unlink()
    old.rmdir()
    rig.write({"model": str(new)})
    known_good = rig.observed().known_good
    gone = f"the known-good {known_good} could not start again: its model {old} is gone; {DARK}"
    plan = rig.run("plan", "--host", rig.host)
    assert gone in plan.everything
    second = rig.deploy("--no-benchmark")
    assert second.code == 0, second.everything
    told = second.everything
    assert told.index(gone) < told.index("stopping launch")
    assert rig.observed().known_good != known_good


def test_promotion_gives_the_lock_back(rig: Rig) -> None:
    """The ledger of a whole deploy ends with promoted, unlocked, once each; the lock is free."""
    assert rig.deploy("--no-benchmark").code == 0
    seen = rig.observed()
    assert [one.event for one in seen.ledger.entries][-2:] == ["promoted", "unlocked"]
    assert [one.event for one in seen.ledger.entries].count("unlocked") == 1
    assert not seen.locked
