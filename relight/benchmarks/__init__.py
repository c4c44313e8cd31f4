"""Benchmark tools by name: one module each, found when a preset asks for it.

A tool has `NAME`, `VERSION` and
`measure(target, plan, connection, report) -> Measurement`. It acts (requests, a process on the
host); every judgement about what it measured is in `relight.core`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from relight.connections import Connection
from relight.core.engine import Endpoints
from relight.core.flags import Flags
from relight.core.measure.measurement import Measurement
from relight.core.preset import Benchmark
from relight.core.startup import Batch


def _no_batches() -> Sequence[Batch]:
    return ()


@dataclass(frozen=True)
class Target:
    """The server to measure, and what is known of it.

    `base_url` is the server as the host sees it (http://127.0.0.1:PORT). `batches` returns the
    prefill and decode lines of this launch's log so far. `headers` may carry an API key; they are
    never stored. `subject` names what is served: runs of unlike subjects are never compared.
    `pids` are the server's processes. `model_path`, `python` (shell lines that leave the engine's
    Python in `$py`; empty where it has none) and `environment` (the server's own, no secrets) are
    what a tool that runs on the host needs. `running_requests` and `context_length` are the
    effective limits of the server, `before` is the known-good's newest run: they size this one.
    `go_on` raises Interrupted when the operator said stop.
    """

    base_url: str
    model: str
    endpoints: Endpoints
    flags: Flags = field(default_factory=dict)
    subject: Mapping[str, str] = field(default_factory=dict)
    batches: Callable[[], Sequence[Batch]] = _no_batches
    headers: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    pids: tuple[int, ...] = ()
    engine_version: str = ""
    model_path: str = ""
    context_length: int | None = None
    running_requests: int | None = None
    before: Measurement | None = None
    go_on: Callable[[], None] = lambda: None


Report = Callable[[str], None]
"""Takes one short sentence of progress."""


class Tool(Protocol):
    """One way to measure a server."""

    NAME: str
    VERSION: str

    def measure(
        self, target: Target, plan: Benchmark, connection: Connection, report: Report
    ) -> Measurement:
        """Measure one server.

        A request that fails is a sample with its `error`; raises `Unreachable` when the host is
        gone and `HostError` when the tool cannot run there at all.
        """


def names() -> tuple[str, ...]:
    """Return the tools that exist here."""
    found = pkgutil.iter_modules(__path__)
    return tuple(sorted(module.name for module in found if not module.ispkg))


def load(name: str) -> Tool:
    """Return a tool; raises KeyError when there is none of that name."""
    if name not in names():
        raise KeyError(name)
    return cast("Tool", importlib.import_module(f"{__name__}.{name}"))
