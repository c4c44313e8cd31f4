"""One deploy's hold on a service: the lock with its fence, and how it is let go."""

from __future__ import annotations

import getpass
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from relight.deploy.target import Target
from relight.errors import Busy, RelightError
from relight.store.service import ServiceStore

LEASE = 60
"""Seconds without a sign of the controller until the host gives its lock away."""


def take_lock(target: Target, why: str, *, wait: float = 0.0) -> int:
    """Take the service's lock and return its fence; waits `wait` seconds at most, else Busy."""
    holder = {
        "who": f"{getpass.getuser()}@{socket.gethostname()}",
        "pid": str(os.getpid()),
        "since": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "why": why,
    }
    until = time.monotonic() + wait
    told = False
    while True:
        try:
            return target.store.lock(holder, LEASE)
        except Busy as busy:
            if time.monotonic() >= until:
                raise
            if not told:
                target.say(f"waiting: {busy}", "warning")
                told = True
            time.sleep(min(2.0, max(0.1, until - time.monotonic())))


@contextmanager
def kept(store: ServiceStore, fence: int, every: float = 15.0) -> Iterator[None]:
    """Renew the lease beside a long step that uses channels of its own (a benchmark).

    A renewal that fails ends the renewing, not the step: the host's lease and dead-man then act.
    """
    done = threading.Event()

    def renew() -> None:
        while not done.wait(every):
            try:
                store.renew(fence)
            except RelightError:
                return

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
