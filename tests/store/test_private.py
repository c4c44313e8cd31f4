"""Releases and their secrets are written whole or not at all, and read by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from relight import launchers
from relight.connections import Connection, Result
from relight.connections.local import open_connection
from relight.core.address import Address
from relight.core.attempt import Recipe
from relight.core.release import Release, another_id
from relight.errors import HostError
from relight.store.host_script import assemble
from relight.store.private import PrivateFiles, read_private
from relight.store.service import ServiceStore
from tests.store.test_snapshots import template

FILES = {"env": b"A='b\nc'\n", "flags.yaml": '{"api-key": "s\u00e9cret"}'.encode()}
RELEASE = Release(
    id="0001-p-0123456789",
    asked="",
    service="main",
    preset="p",
    engine="sglang",
    engine_version="",
    model="m",
    served_name="m",
    port=1,
    launcher="process",
    recipe=Recipe(),
    flags={},
    argv=(),
    within=1.0,
)


class Cut:
    """A connection that loses the end of what it is given."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.address = connection.address

    def control(self, script: str, *, data: bytes = b"", timeout: float = 30.0) -> Result:
        """Run a step with data that lacks its last byte."""
        return self.connection.control(script, data=data[:-1], timeout=timeout)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ServiceStore]:
    """Return a service on this machine with nothing in it."""
    connection = open_connection(Address(name="box", connection="local"))
    script = assemble(template, launchers.load("process"))
    yield ServiceStore(connection, str(tmp_path), "main", script)
    connection.close()


def test_a_release_that_is_cut_off_does_not_exist(store: ServiceStore, tmp_path: Path) -> None:
    """What came without its last byte is no release; written again, it is one."""
    cut = ServiceStore(Cut(store.connection), store.home, "main", store.script)  # type: ignore[arg-type]
    with pytest.raises(HostError, match="write release"):
        cut.write_release(RELEASE, b"true\n", FILES)
    releases = tmp_path / "main" / "releases"
    assert [path.name for path in releases.glob("[!.]*")] == []
    assert store.write_release(RELEASE, b"true\n", FILES)
    assert not store.write_release(RELEASE, b"false\n", {})
    there = {path.name: path.read_bytes() for path in (releases / RELEASE.id).iterdir()}
    assert there == {**FILES, "launch.sh": b"true\n", "release.json": RELEASE.stored()}


def test_they_are_read_by_their_place(store: ServiceStore, tmp_path: Path) -> None:
    """Of one release or of all; a release without own files reads the service's."""
    assert read_private(store, tuple(FILES)).texts == {}
    store.write_release(RELEASE, b"true\n", FILES)
    (tmp_path / "main" / "env").write_text("A=old\n")
    texts = {name: data.decode() for name, data in FILES.items()}
    every = read_private(store, tuple(FILES))
    one = read_private(store, tuple(FILES), RELEASE.id)
    assert one == every
    assert every.of(RELEASE.id) == every.own(RELEASE.id) == texts
    assert (every.own("0002-p-0"), every.of("0002-p-0")) == ({}, {"env": "A=old\n"})
    assert read_private(store, ("env",), "0002-*").texts == {"env": "A=old\n"}
    assert "old" not in repr(PrivateFiles({"env": "old"}))


def test_the_same_bytes_with_other_secrets_get_the_next_number() -> None:
    """The rest of the name says what the bytes are, and stays."""
    known = ("0001-p-0123456789", "0007-q-0123456789", "not-ours")
    assert another_id(known, "0001-p-0123456789") == "0008-p-0123456789"
