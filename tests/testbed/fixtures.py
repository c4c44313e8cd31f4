"""The pytest fixtures of ring 4: two real hosts for a session of tests, healed after each."""

import contextlib
import os
from collections.abc import Iterator

import pytest

from tests.testbed.bed import Testbed
from tests.testbed.process import Process

HOSTS = 2


@contextlib.contextmanager
def lent(purpose: str) -> Iterator[Testbed]:
    """A testbed without hosts of this test process alone, gone afterwards; skips without root.

    When the process is killed, the next testbed that is opened brings this one down.
    """
    if os.geteuid() != 0:
        pytest.skip("the testbed needs root")
    pid = os.getpid()
    bed = Testbed.open(f"{purpose}-{pid}", owner=Process.of(pid))
    try:
        yield bed
    finally:
        bed.down()


@pytest.fixture(scope="session")
def hosts() -> Iterator[Testbed]:
    """A testbed with node1 and node2 up, for the whole session."""
    with lent("pytest") as bed:
        bed.up(HOSTS)
        yield bed


@pytest.fixture
def testbed(hosts: Testbed) -> Iterator[Testbed]:
    """The session's testbed; whatever a test does to power and links, the next finds all up."""
    yield hosts
    for number in hosts.numbers:
        hosts.heal(number)
    hosts.up(HOSTS)
