"""Fixtures: a stand-in engine to measure, and the connection to this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from relight.benchmarks import Target
from relight.connections import Connection, connect
from relight.core.address import Address
from relight.core.engine import Endpoints
from relight.core.flags import Flags
from relight.core.startup import Batch
from relight.engines import load
from relight.standin.archive import build
from tests.standin.rig import Standin, free_port

Serve = Callable[..., Target]
NEXTN: Flags = {
    "speculative-algorithm": "NEXTN",
    "speculative-num-steps": 3,
    "speculative-eagle-topk": 1,
    "speculative-num-draft-tokens": 4,
}


@pytest.fixture(scope="session")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in as one file."""
    path = tmp_path_factory.mktemp("standin") / "standin.pyz"
    path.write_bytes(build())
    return path


@pytest.fixture
def here() -> Iterator[Connection]:
    """The connection to this machine."""
    connection = connect(Address(name="here", connection="local"))
    yield connection
    connection.close()


@pytest.fixture
def serve(pyz: Path, tmp_path: Path) -> Iterator[Serve]:
    """Start stand-ins, with NEXTN or without drafts; every one is ended after the test."""
    running: list[Standin] = []

    def begin(*, drafts: bool = False, **variables: str) -> Target:
        flags = NEXTN if drafts else {}
        words = [word for name, value in flags.items() for word in (f"--{name}", str(value))]
        log = tmp_path / f"server-{len(running)}.log"
        server = Standin(pyz, log, free_port(), *words, **variables)
        running.append(server)
        server.ready()
        return Target(
            base_url=f"http://127.0.0.1:{server.port}",
            model="standin/tiny",
            endpoints=Endpoints(
                health="/health",
                models="/v1/models",
                chat="/v1/chat/completions",
                info="/server_info",
                load="/v1/loads",
            ),
            flags=flags,
            subject={"model": "standin/tiny"},
            batches=lambda: _batches(log),
        )

    yield begin
    for server in running:
        server.stop()


def _batches(log: Path) -> tuple[Batch, ...]:
    reader = load("sglang").reader()
    events = (*reader.feed(log.read_bytes()), *reader.close())
    return tuple(event for event in events if isinstance(event, Batch))
