"""The module `meta`: what changes the course of a play instead of a host."""

from __future__ import annotations

from collections.abc import Sequence

from relight.executor.hosts import Host
from relight.executor.variables import Batch


def apply(action: str, batch: Batch, hosts: Sequence[Host], chosen: Sequence[Host]) -> bool:
    """Do what a `meta` says, for `chosen`, those of `hosts` whose `when` holds.

    Returns whether the whole play is over. As in Ansible the first host decides what concerns all.
    """
    for_all = bool(hosts and chosen and chosen[0] is hosts[0])
    if action in ("end_play", "end_batch") and for_all:
        for host in batch.hosts:
            host.ended = True
    elif action == "end_host":
        for host in chosen:
            host.ended = True
    elif action in ("clear_facts", "clear_host_errors") and for_all:
        for host in batch.hosts:
            _clear(action, host)
    elif action == "reset_connection":
        for host in hosts:
            host.close()
    return action == "end_play" and for_all


def _clear(action: str, host: Host) -> None:
    if action == "clear_facts":
        host.facts = {}
        return
    # a host that failed is back in the next play only
    host.ended = host.ended or host.failed or host.unreachable
    host.failed = host.unreachable = host.dropped = False
