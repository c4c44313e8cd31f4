"""Small files that a host keeps of a service beside its releases: written whole, read if there."""

from __future__ import annotations

import shlex

from relight.errors import HostError
from relight.store.service import ServiceStore

_MOST_BYTES = 512 * 1024


def keep(store: ServiceStore, place: str, text: bytes) -> None:
    """Write a file below the service's folder, by rename, readable by its user alone."""
    path = f"{store.directory}/{shlex.quote(place)}"
    folder = path.rpartition("/")[0] if "/" in place else store.directory
    step = f"umask 077; mkdir -p {folder} && cat > {path}.new && mv -f {path}.new {path}"
    result = store.connection.control(step, data=text)
    if result.exit != 0:
        raise HostError(store.host, f"cannot write {place}: {result.err.strip()[-300:]}")


def kept(store: ServiceStore, place: str) -> str:
    """Return a file below the service's folder; nothing when it is not there."""
    path = f"{store.directory}/{shlex.quote(place)}"
    step = f"[ ! -f {path} ] || head -c {_MOST_BYTES} {path}"
    result = store.connection.control(step)
    if result.exit != 0:
        raise HostError(store.host, f"cannot read {place}: {result.err.strip()[-300:]}")
    return result.out
