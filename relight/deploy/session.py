"""One deploy's hold on a service: the lock with its fence, and the heartbeat that keeps it."""

from __future__ import annotations

import getpass
import os
import socket
import threading
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from relight.connections import Connection, connect
from relight.core.observed import Observed
from relight.deploy.target import Target
from relight.errors import Busy, RelightError, Unreachable
from relight.store.service import StaleFence

LEASE = 60
"""Seconds without a sign of the controller until the host gives its lock away, and returns a
service that is in the middle of a deploy to its known-good."""

_BEATS = 6
"""How many heartbeats fit in a lease: five may be lost."""


def take_lock(target: Target, why: str, *, wait: float = 0.0, lease: int = LEASE) -> int:
    """Take the service's lock and return its fence; waits `wait` seconds at most, else Busy."""
    return take_lock_and_look(target, why, port=None, wait=wait, lease=lease)[0]


def take_lock_and_look(
    target: Target, why: str, *, port: int | None, wait: float = 0.0, lease: int = LEASE
) -> tuple[int, Observed]:
    """Take the lock; return its fence, and how the service and its port stand under it.

    A thread renews the lease until the lock is given back or lost, also between the tasks of a
    playbook (one host may wait long for the others). It dies with this process: that is the point.
    """
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
            fence, observed = target.store.lock(holder, lease, port)
        except Busy as busy:
            if target.stopped() or time.monotonic() >= until:
                raise
            if not told:
                target.say(f"waiting: {busy}", "warning")
                told = True
            time.sleep(min(1.0, max(0.1, until - time.monotonic())))
            continue
        threading.Thread(
            target=_beat, args=(target, fence, lease), name="heartbeat", daemon=True
        ).start()
        return fence, observed


def _beat(target: Target, fence: int, lease: int) -> None:
    """Renew a lease; over a connection of its own once the deploy's was closed or lost."""
    every = lease / _BEATS
    heard = time.monotonic()
    store = target.store
    own: Connection | None = None
    while time.monotonic() - heard < lease:
        time.sleep(every)
        try:
            store.renew(fence)
        except StaleFence:
            break
        except (Unreachable, TimeoutError):  # a task's own time limit binds its connection
            if own is not None:
                own.close()
            with suppress(RelightError):
                own = connect(target.connection.address)
                store = replace(store, connection=own)
        except RelightError:
            continue
        else:
            heard = time.monotonic()
    if own is not None:
        own.close()
