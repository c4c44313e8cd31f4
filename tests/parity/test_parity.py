"""The same playbooks leave the same files, counts and values as with ansible-core."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import sshd as servers
from tests.parity.ansible_core import ansible
from tests.parity.two_runs import (
    BOOKS,
    LOCAL,
    Reach,
    book,
    by_ansible,
    by_relight,
    differences,
    folder,
)
from tests.parity.web import serving

__all__ = ["ansible"]
pytestmark = pytest.mark.parity
EVERY = sorted(BOOKS.glob("[0-9]*.yml"))
OVER_SSH = [path for path in EVERY if book(path).also == "ssh"]


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """Serve the answers that `uri` asks for."""
    with serving() as number:
        yield number


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Sshd]:
    """Return a server that lets this user in, with room for as many sessions as hosts."""
    reason = servers.missing()
    if reason:
        pytest.skip(reason)
    server = servers.start(tmp_path_factory.mktemp("parity"), sessions=50)
    yield server
    server.stop()


def _compared(path: Path, ansible: Path, port: int, reach: Reach) -> list[str]:
    one = book(path)
    if one.needs == "root" and os.geteuid():
        pytest.skip("changes owners: needs root")
    with folder(path.stem) as out:
        theirs = by_ansible(one, out, port, ansible, reach)
    with folder(path.stem) as out:
        ours = by_relight(one, out, port, reach)
    return differences(ours.__dict__, theirs.__dict__)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_both_leave_the_same(path: Path, ansible: Path, port: int) -> None:
    """Files, modes, recap, exit code and registered values are those of ansible-core."""
    assert _compared(path, ansible, port, LOCAL) == []


@pytest.mark.ssh
@pytest.mark.parametrize("path", OVER_SSH, ids=lambda path: path.stem)
def test_both_leave_the_same_over_ssh(
    path: Path, ansible: Path, port: int, sshd: servers.Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds on this machine holds on a host that is reached over SSH."""
    monkeypatch.setenv("HOME", str(sshd.home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    variables = {
        "ansible_connection": "ssh",
        "ansible_host": sshd.host,
        "ansible_port": sshd.port,
        "ansible_user": sshd.user,
        "ansible_ssh_private_key_file": str(sshd.key),
    }
    known = f"-F /dev/null -o UserKnownHostsFile={sshd.known_hosts} -o StrictHostKeyChecking=yes"
    environment = {"ANSIBLE_SSH_COMMON_ARGS": known, "ANSIBLE_HOST_KEY_CHECKING": "true"}
    assert _compared(path, ansible, port, Reach("ssh", variables, environment)) == []
