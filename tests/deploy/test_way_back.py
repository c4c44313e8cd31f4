"""The way back is told when it is broken, before anything stops; promotion unlocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from relight.core.lost_lock import let_go_by
from relight.store.service import StaleFence
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


def test_promotion_whose_answer_was_lost_is_found_done(rig: Rig) -> None:
    """The step is refused when it is repeated, and the ledger says that this deploy unlocked."""
    assert rig.deploy("--no-benchmark").code == 0
    target = rig.target()
    try:
        before = target.store.status()
        assert before.known_good is not None
        fence = before.ledger.entries[-1].fence
        with pytest.raises(StaleFence):
            target.store.confirm(fence, before.known_good, 10, let_go=True)
        after = target.store.status()
        assert after.known_good == before.known_good
        assert let_go_by(after.ledger, fence)
    finally:
        target.connection.close()
