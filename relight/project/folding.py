"""Faults that several hosts share, told once."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable

from relight.errors import Fault

_NAMED = 3


class Folded:
    """Collects the faults of hosts; the same fault on many hosts becomes one that names them."""

    def __init__(self) -> None:
        self._hosts: dict[Fault, dict[str, None]] = {}

    def add(self, host: str, faults: Iterable[Fault]) -> None:
        """Take down what is wrong on a host."""
        for fault in faults:
            self._hosts.setdefault(fault, {})[host] = None

    def faults(self, known: Collection[Fault]) -> tuple[Fault, ...]:
        """Return each fault once with its hosts, but for those that are known without a host."""
        return tuple(
            dataclasses.replace(fault, what=f"{fault.what} (on {_listed(tuple(hosts))})")
            for fault, hosts in self._hosts.items()
            if fault not in known
        )


def _listed(hosts: tuple[str, ...]) -> str:
    named = ", ".join(hosts[:_NAMED])
    return named if len(hosts) <= _NAMED else f"{named} and {len(hosts) - _NAMED} more"
