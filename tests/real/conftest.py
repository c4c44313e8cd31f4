"""Hosts with the real SGLang for the tests of ring 5: a start is shared by all that ask of it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator

import pytest

from tests import sshd
from tests.real.rig import Rig, rig_in


@pytest.fixture(scope="module")
def alone() -> bool:
    """Whether a file wants both cores for itself; one that measures says so."""
    return False


@pytest.fixture(scope="module", autouse=True)
def cores(tmp_path_factory: pytest.TempPathFactory, *, alone: bool) -> Iterator[None]:
    """Hold the cores while a file's tests run: with another worker's file, or alone."""
    with (tmp_path_factory.getbasetemp().parent / "cores.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


@pytest.fixture(scope="session")
def local10(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """This machine through the local connection, with SGLang 0.5.10."""
    rig = rig_in(tmp_path_factory.mktemp("local"), "0.5.10")
    yield rig
    rig.end()


@pytest.fixture(scope="session")
def ssh23(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """This machine over SSH as an ordinary user, with SGLang 0.5.23; skips without an sshd."""
    why = sshd.missing()
    if why:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("ssh")
    server = sshd.start(folder / "sshd", user=sshd.ordinary_user())
    rig = rig_in(folder, "0.5.23", server)
    yield rig
    rig.end()
    server.stop()
