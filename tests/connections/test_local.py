"""The connection to this machine: where commands start, and becoming another user."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path

import pytest

from relight.connections import connect
from relight.core.address import Address
from relight.errors import HostError
from tests import sshd as servers


def test_commands_start_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands start in the home directory, as over SSH."""
    monkeypatch.setenv("HOME", str(tmp_path))
    opened = connect(Address(name="box", connection="local"))
    assert opened.control("pwd").out.strip() == str(tmp_path)
    assert opened.run("pwd").out.strip() == str(tmp_path)
    opened.close()


def test_becoming_oneself_needs_no_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is the wanted user already does not go through sudo."""
    name = pwd.getpwuid(os.geteuid()).pw_name
    (tmp_path / "id").symlink_to(str(shutil.which("id")))
    (tmp_path / "cat").symlink_to(str(shutil.which("cat")))
    monkeypatch.setenv("PATH", str(tmp_path))
    opened = connect(Address(name="box", connection="local", become=True, become_user=name))
    assert opened.control("id -un").out.strip() == name
    assert opened.run("cat", data=b"x").stdout == b"x"
    opened.close()


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("sudo"), reason="needs root and sudo to become another"
)
def test_becoming_another() -> None:
    """Steps, commands and streams run as the other user, and are ended all the same."""
    user = servers.ordinary_user()
    opened = connect(Address(name="box", connection="local", become=True, become_user=user))
    assert opened.control("id -un; echo $HOME").out.split() == [user, f"/home/{user}"]
    ran = opened.run("id -un; cat; echo $X", data=b"data\n", environment={"X": "y"})
    assert ran.out.split() == [user, "data", "y"]
    stream = opened.follow("id -un; sleep 30")
    assert stream.read(5) == f"{user}\n".encode()
    with pytest.raises(TimeoutError):
        opened.run("sleep 68.5", timeout=0.5)
    stream.close()
    opened.close()


@pytest.mark.parametrize("user", ["nobody-of-that-name", "-x", "'; touch /tmp/canary #"])
def test_a_user_who_cannot_be_become_is_told(user: str) -> None:
    """The words of sudo come back, and nothing of the name is run."""
    opened = connect(Address(name="box", connection="local", become=True, become_user=user))
    for act in (opened.control, opened.run):
        with pytest.raises(HostError, match=r"cannot start a shell: .*sudo"):
            act("true")
    opened.close()
    assert not Path("/tmp/canary").exists()


def test_input_that_comes_late_reaches_no_other_command() -> None:
    """A command that leaves without its input must not hand it to the next one's shell."""
    late = b"touch /no/such/place; exit 77\n" * 4096
    connection = connect(Address(name="here", connection="local"))
    try:
        for _ in range(60):
            assert connection.run("exit 3", data=late, environment={"A": "1"}).exit == 3
            told = connection.run("cat", data=b"mine", environment={"A": "1"})
            assert (told.exit, told.stdout, told.stderr) == (0, b"mine", b"")
    finally:
        connection.close()
