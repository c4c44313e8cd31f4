"""Connections for the tests: to this machine, and to a real sshd on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from relight.connections import Connection, connect
from relight.core.address import Address
from tests import sshd as servers


def require_sshd() -> None:
    """Skip when sshd is missing; fail where the parts must be there (CI=true)."""
    reason = servers.missing()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(f"{reason}, and CI must not go without it")
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Sshd]:
    """One sshd for all tests that do it no harm."""
    require_sshd()
    server = servers.start(tmp_path_factory.mktemp("sshd"))
    yield server
    server.stop()


@pytest.fixture
def sshd(shared_sshd: servers.Sshd, monkeypatch: pytest.MonkeyPatch) -> servers.Sshd:
    """The shared sshd, with HOME at its client's home."""
    monkeypatch.setenv("HOME", str(shared_sshd.home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return shared_sshd


@pytest.fixture
def own_sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[servers.Sshd]:
    """An sshd for one test, which may stop it, rewrite its client's files, or change its keys."""
    require_sshd()
    server = servers.start(tmp_path / "sshd")
    monkeypatch.setenv("HOME", str(server.home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    yield server
    server.stop()


@pytest.fixture(params=["local", pytest.param("ssh", marks=pytest.mark.ssh)])
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    """An open connection of each kind: what holds for one holds for the other."""
    if request.param == "local":
        address = Address(name="box", connection="local", timeout=5.0)
    else:
        address = request.getfixturevalue("sshd").address()
    opened = connect(address)
    yield opened
    opened.close()
