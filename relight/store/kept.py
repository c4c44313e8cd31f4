"""Small files that a host keeps of a service beside its releases: written whole, read if there."""

from __future__ import annotations

import shlex

from relight.errors import HostError
from relight.store.service import ServiceStore

_MOST_BYTES = 512 * 1024


def keep(store: ServiceStore, place: str, text: bytes) -> None:
    """Write a file below the service's folder, by rename, readable by its user alone."""
    result = store.connection.control(keep_step(store, place, len(text)), data=text)
    if result.exit != 0:
        raise HostError(store.host, f"cannot write {place}: {result.err.strip()[-300:]}")


def kept(store: ServiceStore, place: str) -> str:
    """Return a file below the service's folder; nothing when it is not there."""
    result = store.connection.control(kept_step(store, place))
    if result.exit != 0:
        raise HostError(store.host, f"cannot read {place}: {result.err.strip()[-300:]}")
    return result.out


def keep_step(store: ServiceStore, place: str, size: int) -> str:
    """Return the step that writes the next `size` bytes of its stdin to such a file."""
    path = f"{store.directory}/{shlex.quote(place)}"
    folder = path.rpartition("/")[0] if "/" in place else store.directory
    whole = f'[ "$(wc -c < {path}.new)" -eq {size} ]'
    return (
        f"umask 077; mkdir -p {folder} && head -c {size} > {path}.new && {whole} && "
        f"mv -f {path}.new {path}"
    )


def kept_step(store: ServiceStore, place: str) -> str:
    """Return the step that prints such a file, and nothing when it is not there."""
    path = f"{store.directory}/{shlex.quote(place)}"
    return f"[ ! -f {path} ] || head -c {_MOST_BYTES} {path}"
