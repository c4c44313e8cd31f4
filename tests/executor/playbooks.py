"""Runs a playbook's text on this machine, and keeps what was reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relight.connections import Connection, connect
from relight.core.address import Address
from relight.core.events import Event, HostRecap, Recap, TaskEnded
from relight.errors import Unreachable
from relight.executor import load, run
from relight.project.loader import load as load_project

INVENTORY = """# Hosts of a test: names for this machine.
all:
  vars: {ansible_connection: local}
  hosts: {one: {}, two: {}, three: {}}
"""


@dataclass
class Ran:
    """A run: its recap, and every event."""

    recap: Recap
    events: list[Event]

    def of(self, host: str) -> HostRecap:
        """Return a host's counts."""
        return self.recap.hosts.get(host, HostRecap())

    def texts(self) -> list[str]:
        """Return the messages of all tasks, `host: message`."""
        ended = [event for event in self.events if isinstance(event, TaskEnded)]
        return [f"{event.host}: {event.msg}" for event in ended if event.item is None and event.msg]


@dataclass
class Lab:
    """A folder with an inventory of names for this machine."""

    root: Path
    lost: set[str] = field(default_factory=set)
    """Hosts that cannot be reached."""

    def connect(self, address: Address) -> Connection:
        """Open a connection, unless the host is out of reach."""
        if address.name in self.lost:
            raise Unreachable(address.name, "no route to host")
        return connect(address)

    def run(self, text: str, extra: Mapping[str, Any] | None = None, **options: Any) -> Ran:
        """Run a playbook's text."""
        (self.root / "inventory").mkdir(exist_ok=True)
        (self.root / "inventory" / "hosts.yml").write_text(INVENTORY)
        path = self.root / "play.yml"
        path.write_text(text)
        project = load_project(self.root)
        events: list[Event] = []
        variables = {"out": str(self.root), **(extra or {})}
        book = load(project, path, variables)
        options = {"report": events.append, "connect": self.connect, **options}
        recap = run(book, project, extra_vars=variables, **options)
        return Ran(recap, events)
