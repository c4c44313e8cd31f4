"""What a run knows of one host: its connections, what it learnt, and how it fared."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from relight.connections import Connection
from relight.connections.anew import Anew
from relight.core.address import Address
from relight.core.events import HostRecap
from relight.core.language.recap import counted
from relight.project.connection_variables import changed

Connect = Callable[[Address], Connection]


@dataclass
class Host:
    """One host during a run. Only its own thread writes to it while a task runs."""

    name: str
    address: Callable[[], Address]
    connect: Connect
    inventory: Mapping[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)
    """What `setup` and other modules found."""
    learnt: dict[str, Any] = field(default_factory=dict)
    """What `register` and `set_fact` keep; never rendered again."""
    notified: list[str] = field(default_factory=list)
    recap: HostRecap = field(default_factory=HostRecap)
    exit_code: int | None = None
    failed: bool = False
    """Failed in this run for good: it takes no part in what follows."""
    unreachable: bool = False
    dropped: bool = False
    """Taken out by another host's fatal error: as in Ansible it may be rescued in the play at hand,
    and takes no part in those that follow."""
    ended: bool = False
    """Left the play by `meta: end_host` or `end_play`."""
    brief: bool = False
    """Whether what runs on the host now is ended at once when the operator says stop."""
    connections: dict[Address, Connection] = field(default_factory=dict)
    ahead: dict[Address, Anew] = field(default_factory=dict)
    addresses: dict[tuple[Any, ...], Address] = field(default_factory=dict)
    """What tasks said of the host's address, and what that came to."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def present(self) -> bool:
        """Return whether the host still takes part in the play."""
        return not (self.unreachable or self.ended)

    def count(self, *keys: str) -> None:
        """Count one more under each key of the recap."""
        self.recap = counted(self.recap, *keys)

    def open(self, **changes: Any) -> Connection:
        """Return the connection for an address with some fields changed, opened once."""
        known = self._address(changes)
        with self.lock:
            connection = self.connections.get(known)
        if connection is None:
            connection = self.connect(known)
            with self.lock:
                self.connections[known] = connection
        return connection

    def anew(self, **changes: Any) -> Anew:
        """Return what opens another connection for such an address, the same one until taken."""
        known = self._address(changes)
        with self.lock:
            return self.ahead.setdefault(known, Anew(lambda: self.connect(known)))

    def _address(self, changes: Mapping[str, Any]) -> Address:
        words = tuple(sorted(changes.items()))
        with self.lock:
            known = self.addresses.get(words)
        if known is None:
            address = self.address()
            known = changed(address, changes) if changes else address
            with self.lock:
                self.addresses[words] = known
        return known

    def end(self) -> None:
        """End the commands that run on the host now."""
        with self.lock:
            connections = list(self.connections.values())
        for connection in connections:
            with contextlib.suppress(Exception):
                connection.end()

    def close(self) -> None:
        """Close every connection; the next `open` opens anew."""
        with self.lock:
            connections, self.connections = list(self.connections.values()), {}
            ahead, self.ahead = list(self.ahead.values()), {}
        for anew in ahead:
            anew.close()
        for connection in connections:
            with contextlib.suppress(Exception):
                connection.close()
