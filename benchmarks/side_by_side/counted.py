"""Round trips of relight's own executor, as its connections count them."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from benchmarks.side_by_side.hosts import Hosts
from relight.connections import Connection, connect
from relight.core.address import Address
from relight.executor import load, run
from relight.project.loader import load as load_project


def round_trips(hosts: Hosts, playbook: Path) -> int:
    """Run a playbook in this process; return the waits for an answer of all its connections."""
    opened: list[Connection] = []

    def remembered(address: Address) -> Connection:
        opened.append(connect(address))
        return opened[-1]

    with mock.patch.dict(os.environ, hosts.environment):
        project = load_project(hosts.project)
        recap = run(load(project, playbook, {}), project, report=lambda _: None, connect=remembered)
    if recap.exit_code:
        raise RuntimeError(f"{playbook} ended with {recap.exit_code}")
    return sum(one.round_trips for one in opened)
