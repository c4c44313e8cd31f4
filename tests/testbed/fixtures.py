"""The pytest fixture of ring 4: two real hosts for a session of tests, healed after each."""

import os
from collections.abc import Iterator

import pytest

from tests.testbed.bed import Testbed
from tests.testbed.process import Process

HOSTS = 2


@pytest.fixture(scope="session")
def hosts() -> Iterator[Testbed]:
    """A testbed of this test process alone, with node1 and node2 up; gone afterwards.

    When the process is killed, the next testbed that is opened brings this one down.
    """
    pid = os.getpid()
    bed = Testbed.open(f"pytest-{pid}", owner=Process.of(pid))
    try:
        bed.up(HOSTS)
        yield bed
    finally:
        bed.down()


@pytest.fixture
def testbed(hosts: Testbed) -> Iterator[Testbed]:
    """The session's testbed; whatever a test does to power and links, the next finds all up."""
    yield hosts
    for number in hosts.numbers:
        hosts.heal(number)
    hosts.up(HOSTS)
