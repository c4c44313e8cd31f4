"""Hooks: the project's commands hear how a deploy ended, and change nothing of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relight.core.events import Event
from relight.modules import Scope, hook
from relight.project.loader import load
from tests.deploy.conftest import Rig

CHANGED = {"switched": {"changed": True, "release": "0001-a-b", "known_good": None}}


@pytest.fixture
def heard(rig: Rig) -> list[Event]:
    """Return what is reported."""
    return []


def scope(rig: Rig, heard: list[Event], *, check: bool = False) -> Scope:
    """Return what the verb may reach; it needs no connection to the host."""
    none = lambda: pytest.fail("no host")  # noqa: E731
    return Scope("box", {}, load(rig.folder), none, none, heard.append, check)


def args(*commands: Any, event: str = "deployed", **came: Any) -> hook.Args:
    """Return arguments with commands on one event."""
    return hook.Args.model_validate({"hooks": {event: commands}, "came": {**CHANGED, **came}})


def test_a_hook_reads_the_event_in_the_projects_folder(rig: Rig, heard: list[Event]) -> None:
    """JSON on stdin, the project as working folder, no leftover words of our own."""
    outcome = hook.run(args("cat > told.json; pwd > where"), scope(rig, heard))
    told = json.loads((rig.folder / "told.json").read_text())
    assert (told["event"], told["host"], told["service"]) == ("deployed", "box", "main")
    assert told["release"] == "0001-a-b"
    assert Path((rig.folder / "where").read_text().strip()) == rig.folder
    assert not outcome.failed
    assert heard == []


def test_a_failing_and_a_hanging_hook_are_told_and_no_more(rig: Rig, heard: list[Event]) -> None:
    """Status and words of the one, the limit of the other; the third still runs."""
    commands = ("echo broken >&2; exit 3", {"command": "sleep 60", "timeout": 0.3}, "touch ran")
    outcome = hook.run(args(*commands), scope(rig, heard))
    assert (outcome.failed, outcome.changed) == (False, False)
    assert "1 of 3" in outcome.msg
    words = "\n".join(str(one) for one in heard)
    assert "status 3: broken" in words
    assert "did not end within 0.3 s" in words
    assert (rig.folder / "ran").exists()


def test_other_events_and_check_mode_run_nothing(rig: Rig, heard: list[Event]) -> None:
    """A hook of another event stays silent, and so do all under --check."""
    hook.run(args("touch ran", event="failed"), scope(rig, heard))
    hook.run(args("touch ran"), scope(rig, heard, check=True))
    hook.run(args("touch ran", switched={"changed": False}), scope(rig, heard))
    assert not (rig.folder / "ran").exists()


def test_hostile_words_of_a_host_stay_data(rig: Rig, heard: list[Event]) -> None:
    """What a host or a log says reaches a hook as JSON on stdin, never as a command."""
    evil = "'; touch pwned; $(touch pwned) `touch pwned`\n}; touch pwned"
    switched = {**CHANGED["switched"], "degraded": True, "msg": evil}
    hook.run(args("cat > told.json", event="degraded", switched=switched), scope(rig, heard))
    assert json.loads((rig.folder / "told.json").read_text())["reason"] == evil
    assert not (rig.folder / "pwned").exists()


def test_a_deploy_tells_its_hooks(rig: Rig) -> None:
    """Deployed, then failed in preflight: one line each; a broken hook changes no exit code."""
    write = "cat >> told.jsonl"
    rig.host_vars["hooks"] = {"deployed": [write, "exit 9"], "failed": [write]}
    rig.write()
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    assert "status 9" in ended.everything
    rig.write({"engine_version": ">=99", "flags": {"context-length": 2048}})
    assert rig.deploy().code == 2
    told = [json.loads(line) for line in (rig.folder / "told.jsonl").read_text().splitlines()]
    assert [one["event"] for one in told] == ["deployed", "failed"]
    assert "99" in told[1]["reason"]
