"""Ring 4, secrets: a grep over everything that is written on either side finds none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.host.conftest import AS_ROOT, AS_USER
from tests.host.field import PRESET, Field, Site
from tests.host.harm import Act, harm, kill, power

pytestmark = pytest.mark.testbed
TOKEN, KEY = "t0ken-of-the-hub", "k3y-of-the-server"
PRIVATE = ("env", "flags.yaml", "server.log")
"""relight's own files of secrets, and the engine's log, which SGLang 0.5.10 writes its key to."""


@pytest.fixture
def secretive(held: Field, monkeypatch: pytest.MonkeyPatch) -> Iterator[Field]:
    """Return the field with a preset that has both kinds of secrets."""
    monkeypatch.setitem(held.environment, "HUB_TOKEN", TOKEN)
    monkeypatch.setitem(held.environment, "SERVER_KEY", KEY)
    file = held.folder / "inventory" / "presets" / "tiny.yml"
    before = file.read_text()
    secret = {
        "env": {"HF_TOKEN": {"env": "HUB_TOKEN"}},
        "secret_flags": {"api-key": {"env": "SERVER_KEY"}},
    }
    file.write_text(json.dumps({**PRESET, **secret}))
    yield held
    file.write_text(before)
    for site in (AS_ROOT, AS_USER):
        held.deploy(site, "--no-benchmark")


@pytest.mark.parametrize("site", [AS_ROOT, AS_USER], ids=["root", "user"])
def test_no_secret_is_written_or_shown(secretive: Field, site: Site, tmp_path: Path) -> None:
    """Units, journal, command lines, releases, ledger, output and this machine know the names."""
    held = secretive
    said = ""
    for words in (
        ("deploy", "--host", site.name),
        ("deploy", "--host", site.name, "--json", "--set", "max-running-requests=7"),
        ("deploy", "--host", site.name, "--no-preflight", "--set", "no-such-flag=1"),
        ("diagnose", "--host", site.name),
        ("logs", "--host", site.name, "--lines", "500"),
        ("explain", "--host", site.name),
        ("status",),
    ):
        code, out = held.run(*words)
        assert code == (3 if "no-such-flag=1" in words else 0), out
        said += out
    assert "[hidden]" in said  # the log that holds the key was read
    kept = " ".join(f"--exclude={name}" for name in PRIVATE)
    host = held.bed.ssh(
        site.number,
        f"grep -rlaE {kept} '{TOKEN}|{KEY}' {site.store} /etc/systemd /run/systemd"
        f" /home/relight/.config /var/log /tmp 2>/dev/null; journalctl --no-pager -a -q;"
        " journalctl --user --no-pager -a -q;"
        " cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'",
        user="root",
    ).stdout
    here = "".join(
        path.read_text(errors="replace") for path in held.folder.rglob("*") if path.is_file()
    )
    assert "max-running-requests" in host
    for secret in (TOKEN, KEY):
        assert secret not in said + here
        assert secret not in host.replace(f"grep -rlaE {kept} '{TOKEN}|{KEY}'", "")
    places = "current/env current/flags.yaml . releases current/"
    modes = held.says(site, f"cd {site.store}/main && stat -c %a {places}").split()
    assert modes == ["400", "400", "700", "700", "700"]


@pytest.mark.parametrize("act", [kill, power], ids=["dead-man", "power cut"])
def test_what_the_host_returns_to_has_the_secrets_of_then(
    secretive: Field, monkeypatch: pytest.MonkeyPatch, act: Act
) -> None:
    """Nobody is there to ask: the key of then opens the server, and `status` tells of it."""
    held, site = secretive, AS_ROOT
    code, said = held.deploy(site, "--no-benchmark")
    assert code == 0, said
    good = held.observed(site).known_good
    other = f"{KEY}-{act.__name__}"
    monkeypatch.setitem(held.environment, "SERVER_KEY", other)
    came = harm(held, site, act, "started", change=8)
    assert held.observed(site).known_good == good, came
    port = site.services["main"]
    for key, answer in ((KEY, "200"), (other, "401")):
        asked = f"http://127.0.0.1:{port}/v1/models -H 'Authorization: Bearer {key}'"
        words = f"curl -s -o /dev/null -w '%{{http_code}}' {asked}"
        assert held.says(site, words) == answer
    _, said = held.run("status", "--host", site.name)
    assert "its secrets are not those of" in " ".join(said.split())
