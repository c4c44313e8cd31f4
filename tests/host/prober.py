"""An outside prober: asks each service's port twice a second and remembers when nobody answered."""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.host.field import Field, Site

EVERY = 0.5
_CLONE_NEWNET = 0x40000000


@dataclass
class Prober:
    """Asks one port from the host's own network, so that a cut cable hides nothing.

    `longest` is the longest time without an answer, in seconds, also one that still lasts.
    """

    held: Field
    site: Site
    port: int
    answers: int = 0
    longest: float = 0.0
    dark_since: float | None = None
    _done: threading.Event = field(default_factory=threading.Event)

    def look(self) -> bool:
        """Ask once; whether a server answered within a second."""
        boot = self.held.bed.node(self.site.number).boot()
        if boot is None:
            return False
        try:
            with _network_of(boot.pid):
                return _answers(self.port)
        except OSError:
            return False

    def run(self) -> None:
        """Ask until `stop`."""
        while not self._done.is_set():
            now = time.monotonic()
            if self.look():
                self.answers += 1
                self._lit(now)
            elif self.dark_since is None:
                self.dark_since = now
            self._done.wait(max(0.0, EVERY - (time.monotonic() - now)))
        self._lit(time.monotonic())

    def _lit(self, now: float) -> None:
        if self.dark_since is not None:
            self.longest = max(self.longest, now - self.dark_since)
            self.dark_since = None

    def stop(self) -> None:
        """Ask no more."""
        self._done.set()


@contextlib.contextmanager
def _network_of(pid: int) -> Iterator[None]:
    """Be in a process's network, in this thread alone; staying there would keep it from ending."""
    mine = Path("/proc/thread-self/ns/net")
    with mine.open("rb") as own, Path(f"/proc/{pid}/ns/net").open("rb") as other:
        _enter(other.fileno())
        try:
            yield
        finally:
            _enter(own.fileno())


def _enter(space: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(space, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1.0)
    try:
        connection.request("GET", "/v1/models")
        return connection.getresponse().status in (200, 401)  # it may ask for a key
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextlib.contextmanager
def probing(held: Field, site: Site, service: str = "main") -> Iterator[Prober]:
    """Ask a service's port for as long as the context lasts."""
    prober = Prober(held, site, site.services[service])
    thread = threading.Thread(target=prober.run, name=f"prober {site.name}")
    thread.start()
    try:
        yield prober
    finally:
        prober.stop()
        thread.join()
