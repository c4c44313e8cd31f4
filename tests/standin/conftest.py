"""Fixtures: the zipapp, built once, and a way to start stand-ins that are always ended."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from relight.standin.archive import build
from tests.standin.rig import Standin, free_port

Start = Callable[..., Standin]


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zipapp as a file."""
    path = tmp_path_factory.mktemp("standin") / "standin.pyz"
    path.write_bytes(build())
    return path


@pytest.fixture(scope="session")
def pyz(archive: Path) -> Path:
    """The zipapp unpacked: python runs the folder alike, and compiles it only once."""
    folder = archive.parent / "unpacked"
    zipfile.ZipFile(archive).extractall(folder)
    return folder


@pytest.fixture
def start(pyz: Path, tmp_path: Path) -> Iterator[Start]:
    """Start stand-ins; `port=` to choose one; every one is ended after the test."""
    running: list[Standin] = []

    def begin(*arguments: str, port: int = 0, **variables: str) -> Standin:
        log = tmp_path / f"server-{len(running)}.log"
        one = Standin(pyz, log, port or free_port(), *arguments, **variables)
        running.append(one)
        return one

    yield begin
    for one in running:
        one.stop()
