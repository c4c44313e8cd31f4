"""Services with the real host script for ring 2, and a field of real hosts for ring 4."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.host.field import Field, Site
from tests.host.served import Served, script_text
from tests.testbed.bed import Testbed
from tests.testbed.fixtures import hosts

__all__ = ["hosts"]

AS_ROOT = Site(1, "root", "systemd", {"main": 30001})
AS_USER = Site(2, "relight", "systemd", {"main": 30002})
PLAIN = Site(1, "relight", "process", {"main": 30003, "second": 30004})


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Return a service in a folder of its own, with nothing in it but the script."""
    folder = tmp_path / ".relight" / "main"
    folder.mkdir(parents=True)
    (folder / "host.sh").write_text(script_text())
    service = Served(folder)
    yield service
    service.end()


@pytest.fixture(scope="session")
def ground(hosts: Testbed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """Return a field of two hosts, four services and both launchers, all serving a known-good."""
    hosts.ssh(2, "loginctl enable-linger relight", user="root")
    field = Field(tmp_path_factory.mktemp("field"), hosts, (AS_ROOT, AS_USER, PLAIN))
    field.write()
    code, said = field.run("deploy", "--host", "all", timeout=300)
    assert code == 0, said
    yield field
    field.end()


@pytest.fixture
def held(ground: Field) -> Iterator[Field]:
    """Return the field; whatever a test does, the next one finds every service serving."""
    yield ground
    for number in ground.bed.numbers:
        ground.bed.heal(number)
    ground.bed.up(2)
    every = [(site, service) for site in ground.sites for service in site.services]
    with ThreadPoolExecutor(len(every)) as pool:
        states = list(pool.map(lambda one: ground.observed(*one).confirmed, every))
    for (site, service), confirmed in zip(every, states, strict=True):
        if not confirmed:
            ground.run("restart", "--host", site.name, "--service", service, "--wait", "60")
