"""Secrets belong to their release: what comes back starts with the set and values of then."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.deadline import until
from tests.deploy.conftest import ROOT, Rig
from tests.deploy.test_secrets import everything_written

OLD, NEW = "k3y-of-the-first", "k3y-of-the-second"
BOTH = {
    "env": {"HF_TOKEN": {"env": "TOKEN"}},
    "secret_flags": {"api-key": {"env": "KEY"}, "admin-api-key": {"env": "ADMIN"}},
}
"""What the second preset refers to: one more flag than the first, and a variable."""
LONG = {"benchmark": {"requests": 200, "max_tokens": 2000}}


@pytest.fixture(autouse=True)
def _first(rig: Rig) -> None:
    """Serve a first release with one key, and have another key and another secret at hand."""
    rig.host_vars = {"lock_lease": 2}
    rig.env["KEY"] = OLD
    rig.write({"secret_flags": {"api-key": {"env": "KEY"}}})
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    rig.env |= {"KEY": NEW, "ADMIN": "4dmin-of-the-second", "TOKEN": "t0ken-of-the-second"}


def given(rig: Rig) -> dict[str, Any]:
    """Return the secret flags and the variable that the running server was started with."""
    pid = rig.observed().pid
    words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    flags: dict[str, Any] = json.loads(Path(words[words.index("--config") + 1]).read_text())
    environ = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return flags | dict(one.split("=", 1) for one in environ if one.startswith("HF_TOKEN="))


def opens(rig: Rig, key: str) -> bool:
    """Return whether the running server takes a key."""
    url = f"http://127.0.0.1:{rig.port}/v1/models"
    headers = {"Authorization": f"Bearer {key}"}
    try:
        return httpx.get(url, headers=headers, timeout=5).is_success
    except httpx.HTTPError:
        return False


def said_of(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())


def test_a_deploy_that_fails_leads_back_to_the_secrets_of_then(rig: Rig) -> None:
    """Exit 3: the old key opens the server, the new flag is unknown to it, and both are told."""
    good = rig.observed().current
    rig.write({**BOTH, "model": "standin/other", "expect": {"tok_s": 1000000}})
    ended = rig.deploy()
    assert ended.code == 3, ended.everything
    assert rig.observed().current == good
    assert given(rig) == {"api-key": OLD}
    assert opens(rig, OLD)
    assert not opens(rig, NEW)
    said = said_of(ended.everything)
    assert f"{good} starts with the secrets of then" in said
    assert "HF_TOKEN, admin-api-key, api-key" in said
    assert "its secrets are not those of 0002-" in said_of(rig.run("status").out)


def test_the_host_itself_leads_back_to_the_secrets_of_then(rig: Rig) -> None:
    """The dead-man of a killed controller does what a rollback does, and the ledger tells."""
    good = rig.observed().current
    rig.write({**BOTH, **LONG, "model": "standin/other"})
    controller = rig.start("deploy", "--host", rig.host)
    ledger = rig.store() / "ledger.jsonl"
    try:
        until(lambda: ledger.read_text().count('"ready"') == 2, 60, "a ready candidate")
        assert given(rig)["api-key"] == NEW
    finally:
        controller.kill()
        controller.communicate()
    until(lambda: '"rolled_back"' in ledger.read_text(), 60, "the host's own rollback")
    until(lambda: rig.observed().deadman == "none", 60, "the end of its work")
    until(lambda: opens(rig, OLD), 60, "an answer")
    assert rig.observed().current == good
    assert given(rig) == {"api-key": OLD}
    status = said_of(rig.run("status").out)
    assert "by the host itself (dead-man); its secrets are not those of 0002-" in status


def test_a_rollback_there_and_back(rig: Rig) -> None:
    """Each release starts with its own set, whichever way it is returned to."""
    rig.write(BOTH)
    assert rig.deploy("--no-benchmark").code == 0
    second = {
        "api-key": NEW,
        "admin-api-key": "4dmin-of-the-second",
        "HF_TOKEN": "t0ken-of-the-second",
    }
    assert given(rig) == second
    first, later = sorted(one.name for one in (rig.store() / "releases").iterdir())
    for name, expected in ((first, {"api-key": OLD}), (later, second)):
        checked = rig.run("rollback", "--host", rig.host, "--to", name, "--check")
        assert "the secrets of then" in said_of(checked.out)
        for words in (("rollback", "--to", name), ("restart",)):
            ended = rig.run(words[0], "--host", rig.host, *words[1:])
            assert ended.code == 0, ended.everything
            assert given(rig) == expected
            assert ("the secrets of then" in ended.everything) == (words[0] == "rollback")


def test_a_new_value_is_a_new_release_of_the_same_bytes(rig: Rig) -> None:
    """A key that was replaced is deployed like any change; the one before keeps the old."""
    first = rig.observed().current
    assert first is not None
    checked = rig.run("plan", "--host", rig.host)
    assert checked.code == 0, checked.everything
    assert rig.observed().releases == (first,)
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    assert "api-key has another value than" in said_of(ended.out)
    second = rig.observed().current
    assert second == first.replace("0001-", "0002-")
    assert opens(rig, NEW)
    assert not opens(rig, OLD)
    pid = rig.observed().pid
    again = rig.deploy("--no-benchmark")
    assert again.code == 0, again.everything
    assert (rig.observed().pid, rig.observed().current) == (pid, second)
    assert rig.run("rollback", "--host", rig.host, "--to", first).code == 0
    assert opens(rig, OLD)


def test_a_new_value_that_breaks_the_start_is_left_again(rig: Rig) -> None:
    """The promise holds where nothing but a value changed: the release before serves as before."""
    first = rig.observed().current
    rig.write({"secret_flags": {"api-key": {"env": "KEY"}}, "expect": {"tok_s": 1000000}})
    ended = rig.deploy()
    assert ended.code == 3, ended.everything
    assert rig.observed().current == first
    assert opens(rig, OLD)


def test_no_log_shows_a_key_of_any_time(rig: Rig) -> None:
    """Logs hold the keys of their releases: each is hidden, also when the preset has none now."""
    rig.write(BOTH)
    assert rig.deploy("--no-benchmark").code == 0
    rig.write()
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    del rig.env["KEY"], rig.env["ADMIN"], rig.env["TOKEN"]
    said = ended.everything
    for launch in ("1", "2", "3"):
        for command in ("logs", "diagnose"):
            ended = rig.run(command, "--host", rig.host, "--launch", launch)
            assert ended.code == 0, ended.everything
            said += ended.everything
    said += everything_written(rig.home, rig.folder)
    assert "[hidden]" in said
    for secret in (OLD, NEW, "4dmin-of-the-second", "t0ken-of-the-second"):
        assert secret not in said


def as_an_earlier_relight_left_it(rig: Rig) -> None:
    """Let the service's folder hold the one set of secrets, and the first release read it."""
    (release,) = (rig.store() / "releases").iterdir()
    (release / "flags.yaml").rename(rig.store() / "flags.yaml")
    script = release / "launch.sh"
    text = script.read_text()
    script.chmod(0o700)
    script.write_text(text.replace('"${0%/*}"/', '"$RELIGHT_SERVICE_DIR"/'))
    assert "RELIGHT_SERVICE_DIR" in script.read_text()


def test_what_an_earlier_relight_deployed_comes_back_as_it_was(rig: Rig) -> None:
    """Its secrets are where they were, and no later deploy writes there."""
    as_an_earlier_relight_left_it(rig)
    restarted = rig.run("restart", "--host", rig.host)
    assert restarted.code == 0, restarted.everything
    good = rig.observed().current
    rig.write({**BOTH, "model": "standin/other", "expect": {"tok_s": 1000000}})
    ended = rig.deploy()
    assert ended.code == 3, ended.everything
    assert "HF_TOKEN, admin-api-key, api-key" in said_of(ended.everything)
    assert rig.observed().current == good
    assert given(rig) == {"api-key": OLD}
    assert opens(rig, OLD)
    assert OLD not in rig.run("logs", "--host", rig.host).out


def test_an_own_template_that_looks_where_they_were_is_refused(rig: Rig) -> None:
    """The fault says what to write, before anything is stopped."""
    own = rig.folder / "templates" / "launch.sh.j2"
    own.parent.mkdir()
    shipped = (ROOT / "templates" / "launch.sh.j2").read_text()
    own.write_text(shipped.replace('"${0%/*}"/', '"$RELIGHT_SERVICE_DIR"/'))
    before = rig.observed()
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 2, ended.everything
    assert 'write "${0%/*}" instead' in said_of(ended.everything)
    assert (rig.observed().pid, rig.observed().releases) == (before.pid, before.releases)


def test_they_lie_with_their_release_and_go_with_it(rig: Rig) -> None:
    """Readable by their user alone, written whole with the release, pruned with it."""
    rig.write(BOTH)
    assert rig.deploy("--no-benchmark").code == 0
    first, later = sorted((rig.store() / "releases").iterdir())
    assert stat.S_IMODE(later.stat().st_mode) == 0o700
    for file in (first / "flags.yaml", later / "flags.yaml", later / "env"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o400
    assert not (first / "env").exists()
    assert not (rig.store() / "env").exists()
    assert not (rig.store() / "flags.yaml").exists()
    assert OLD not in (first / "launch.sh").read_text() + (first / "release.json").read_text()
