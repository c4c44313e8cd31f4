"""`fit` and `ceiling` of a model that is named by a hub's name."""

from __future__ import annotations

import json

import pytest

from relight.errors import EXIT_FAILED
from tests.deploy.conftest import Rig

COMMANDS = ("fit", "ceiling")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_model_that_is_not_on_the_host_is_told_with_the_way_out(rig: Rig, command: str) -> None:
    """Where it was looked for and what would be right, in words; no errno."""
    ended = rig.run(command, "--host", rig.host)
    assert ended.code == EXIT_FAILED
    assert "standin/tiny is no folder on this host" in ended.everything
    assert f"{rig.home}/.cache/huggingface/hub holds no copy" in ended.everything
    assert "hf download standin/tiny" in ended.everything
    assert "--facts FILE" in ended.everything
    assert "Errno" not in ended.everything


@pytest.mark.parametrize("command", COMMANDS)
def test_a_hubs_model_is_read_where_the_servers_variables_say(rig: Rig, command: str) -> None:
    """The preset moves the cache; what is said then is no longer that the model is missing."""
    copy = rig.folder / "cache" / "hub" / "models--standin--tiny" / "snapshots" / "abc"
    copy.mkdir(parents=True)
    (copy / "config.json").write_text(json.dumps({"model_type": "qwen3"}))
    rig.write({"env": {"HF_HOME": str(rig.folder / "cache")}})
    ended = rig.run(command, "--host", rig.host)
    assert ended.everything
    assert "no folder" not in ended.everything
    assert "cannot be read" not in ended.everything
