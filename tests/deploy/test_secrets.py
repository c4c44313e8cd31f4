"""Secrets: read by reference, kept in one file, shown nowhere."""

from __future__ import annotations

import stat
from pathlib import Path

from tests.deploy.conftest import Rig

SECRET = "s3cr3t-value'with\"quotes$(touch canary)"


def everything_written(*folders: Path) -> str:
    """Return all bytes below folders as text, the env file left out."""
    return "".join(
        path.read_text(errors="replace")
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name != "env"
    )


def test_a_secret_reaches_the_engine_and_nothing_else(rig: Rig) -> None:
    """Its value stands in the 0600 env file alone: not in scripts, ledger, logs, argv or output."""
    rig.env["MY_TOKEN"] = SECRET
    rig.write({"env": {"HF_TOKEN": {"env": "MY_TOKEN"}}})
    ended = rig.deploy()
    assert ended.code == 0, ended.everything
    env = rig.store() / "env"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    pid = rig.observed().pid
    assert f"HF_TOKEN={SECRET}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    assert SECRET.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    assert SECRET not in everything_written(rig.home, rig.folder) + ended.everything
    assert not list(rig.folder.parent.rglob("canary"))


def test_a_lost_secret_is_a_fault_with_its_place(rig: Rig) -> None:
    """A reference that gives nothing ends the deploy before the old server is stopped."""
    rig.deploy()
    before = rig.observed()
    rig.write({"env": {"HF_TOKEN": {"env": "NOT_SET_ANYWHERE"}}})
    ended = rig.deploy()
    assert ended.code == 2, ended.everything
    assert "presets/tiny.yml:1:" in ended.everything
    assert "NOT_SET_ANYWHERE" in ended.everything
    after = rig.observed()
    assert after.pid == before.pid
    assert not after.locked


def test_a_command_gives_a_secret(rig: Rig) -> None:
    """`command: pass show x` is run on the controller, and its output is the value."""
    rig.write({"env": {"HF_TOKEN": {"command": "printf from-a-command"}}})
    ended = rig.deploy()
    assert ended.code == 0, ended.everything
    assert "HF_TOKEN=from-a-command" in (rig.store() / "env").read_text()


def test_a_value_that_looks_like_a_secret_is_refused(rig: Rig) -> None:
    """A secret written in the preset is a fault that says how to refer to it."""
    rig.write({"env": {"HF_TOKEN": "hf_plain"}})
    ended = rig.deploy()
    assert ended.code == 2
    assert "reference" in ended.err
    assert "hf_plain" not in ended.everything
