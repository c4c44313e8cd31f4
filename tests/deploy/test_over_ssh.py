"""Ring 3: the same deploy over a real sshd on loopback, as an ordinary user."""

from __future__ import annotations

import os
import pwd
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from relight.connections import Connection, connect
from relight.core.address import Address
from relight.core.observed import Observed
from relight.deploy.target import target_of
from relight.executor import load as read_playbook
from relight.executor import run
from relight.project.loader import load
from tests import sshd as servers
from tests.connections.conftest import require_sshd
from tests.deploy.conftest import ROOT, Rig

pytestmark = pytest.mark.ssh


@pytest.fixture
def ssh_rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """Return a rig whose host is an sshd on loopback; its service is stopped afterwards."""
    require_sshd()
    user = servers.ordinary_user()
    server = servers.start(tmp_path / "sshd", user=user)
    monkeypatch.setenv("HOME", str(server.home))
    home = f"~/.relight-{uuid.uuid4().hex[:8]}"
    env = {"HOME": str(server.home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    rig = Rig(tmp_path / "project", Path(pwd.getpwnam(user).pw_dir), env)
    rig.folder.mkdir()
    rig.host_vars = {
        "ansible_connection": "ssh",
        "ansible_host": server.host,
        "ansible_port": server.port,
        "ansible_user": user,
        "ansible_ssh_private_key_file": str(server.key),
        "relight_home": home,
    }
    rig.write()
    yield rig
    rig.run("stop", "--host", rig.host)
    server.stop()
    subprocess.run(["rm", "-rf", str(rig.home / home[2:])], check=True)


def observed(rig: Rig) -> Observed:
    """Return how the service stands, asked over SSH."""
    project = load(rig.folder)
    connection = connect(project.address(rig.host))
    try:
        return target_of(project, rig.host, "main", connection, lambda _: None).store.peek()
    finally:
        connection.close()


def round_trips(rig: Rig) -> int:
    """Deploy once more, unchanged, and return the waits for an answer after connecting."""
    opened: list[Connection] = []

    def remembered(address: Address) -> Connection:
        opened.append(connect(address))
        return opened[-1]

    project = load(rig.folder)
    book = read_playbook(project, project.playbook("deploy.yml"))
    recap = run(book, project, limit=rig.host, report=lambda _: None, connect=remembered)
    assert recap.exit_code == 0
    assert [one.changed for one in recap.hosts.values()] == [0]
    return sum(one.round_trips for one in opened)


def test_the_same_deploy_over_ssh(ssh_rig: Rig) -> None:
    """First deploy promoted, second `ok` with the same process, rollback with stored bytes."""
    first = ssh_rig.deploy()
    assert first.code == 0, first.everything
    served = observed(ssh_rig)
    assert served.confirmed
    again = ssh_rig.deploy()
    assert again.code == 0, again.everything
    assert "changed=0" in again.out
    assert observed(ssh_rig).pid == served.pid
    assert round_trips(ssh_rig) <= 5
    changed = ssh_rig.deploy("--set", "mem-fraction-static=0.6")
    assert changed.code == 0, changed.everything
    assert served.current is not None
    back = ssh_rig.run("rollback", "--host", ssh_rig.host, "--to", served.current)
    assert back.code == 0, back.everything
    now = observed(ssh_rig)
    assert now.current == served.current
    assert now.confirmed
    assert now.launch == 3


def test_an_unknown_host_key_is_refused_in_words(ssh_rig: Rig) -> None:
    """Host keys are checked: nothing is sent to a host that nobody vouches for, exit code 4."""
    (Path(ssh_rig.env["HOME"]) / ".ssh" / "known_hosts").write_text("")
    ended = ssh_rig.deploy()
    assert ended.code == 4, ended.everything
    assert "host key" in ended.everything
    assert "Traceback" not in ended.everything
