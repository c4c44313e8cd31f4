"""Secrets: read by reference, kept in one file, shown nowhere."""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path

import httpx

from tests.deploy.conftest import PRESET, Rig

SECRET = "s3cr3t-value'with\"quotes$(touch canary)"


def everything_written(*folders: Path) -> str:
    """Return all bytes below folders as text: without relight's private files, the engine's log."""
    return "".join(
        path.read_text(errors="replace")
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and path.name not in ("env", "flags.yaml", "server.log")
    )


def command_lines() -> str:
    """Return the command lines of all processes of this machine."""
    found = ""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                found += (folder / "cmdline").read_bytes().decode(errors="replace") + "\n"
    return found


def test_a_secret_reaches_the_engine_and_nothing_else(rig: Rig) -> None:
    """It stands in the release's env file alone: not in scripts, ledger, logs, argv or output."""
    rig.env["MY_TOKEN"] = SECRET
    rig.write({"env": {"HF_TOKEN": {"env": "MY_TOKEN"}}})
    ended = rig.deploy()
    assert ended.code == 0, ended.everything
    env = rig.store() / "current" / "env"
    assert stat.S_IMODE(env.stat().st_mode) == 0o400
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
    assert "HF_TOKEN=from-a-command" in (rig.store() / "current" / "env").read_text()


def test_a_value_that_looks_like_a_secret_is_refused(rig: Rig) -> None:
    """A secret written in the preset is a fault that says how to refer to it."""
    rig.write({"env": {"HF_TOKEN": "hf_plain"}})
    ended = rig.deploy()
    assert ended.code == 2
    assert "reference" in ended.err
    assert "hf_plain" not in ended.everything


def test_an_api_key_is_on_no_command_line(rig: Rig) -> None:
    """SGLang reads it from a private file: it guards the server, and stands nowhere else."""
    key = "k3y-that-guards"
    rig.env["SERVER_KEY"] = key
    rig.write({"secret_flags": {"api-key": {"env": "SERVER_KEY"}}})
    first = rig.deploy()
    assert first.code == 0, first.everything
    assert key not in command_lines()
    url = f"http://127.0.0.1:{rig.port}/v1/models"
    assert httpx.get(url, timeout=5).status_code == 401
    assert httpx.get(url, headers={"Authorization": f"Bearer {key}"}, timeout=5).is_success
    assert stat.S_IMODE((rig.store() / "current" / "flags.yaml").stat().st_mode) == 0o400
    log = rig.store() / "launches" / "1" / "server.log"
    assert key in log.read_text()  # SGLang 0.5.10 logs its arguments, the key among them
    assert stat.S_IMODE(log.stat().st_mode) == 0o600

    said = first.everything
    for words in (
        ("deploy", "--host", rig.host),
        ("deploy", "--host", rig.host, "--json", "--set", "max-running-requests=3"),
        ("rollback", "--host", rig.host, "--to", "0001-*"),
        *((command, "--host", rig.host) for command in ("explain", "diagnose", "logs", "plan")),
        ("releases", "--host", rig.host),
        ("bench", "--host", rig.host),
        ("restart", "--host", rig.host),
    ):
        found = [one.name for one in (rig.store() / "releases").glob("0001-*")]
        ended = rig.run(*(found[0] if word == "0001-*" else word for word in words))
        assert ended.code == 0, (words, ended.everything)
        said += ended.everything
    assert key not in said + command_lines()
    assert key not in everything_written(rig.home, rig.folder)


def test_a_secret_flag_that_is_written_out_is_refused(rig: Rig) -> None:
    """The fault names the place, says how to refer to the value, and does not repeat it."""
    rig.write({"flags": {**PRESET["flags"], "api-key": "pl4in"}})
    ended = rig.deploy()
    assert ended.code == 2
    assert "api-key is a secret, and its value stands in the file" in ended.err
    assert "secret_flags: {api-key: {env: API_KEY}}" in ended.err
    assert "pl4in" not in ended.everything


def test_a_secret_that_would_be_taken_for_a_flag_is_refused(rig: Rig) -> None:
    """A value that begins with a dash would change another flag: refused before anything stops."""
    rig.env["SERVER_KEY"] = "--trust-remote-code"
    rig.write({"secret_flags": {"api-key": {"env": "SERVER_KEY"}}})
    ended = rig.deploy()
    assert ended.code == 2
    assert "begins with a dash" in ended.everything
    assert not rig.store().exists() or rig.observed().launch == 0
