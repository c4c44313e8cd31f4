"""The executor: plays on batches of hosts, task by task, in lock step, a thread for each host."""

from __future__ import annotations

from relight.executor.catalog import load
from relight.executor.listing import listing
from relight.executor.playbook import run

__all__ = ["listing", "load", "run"]
