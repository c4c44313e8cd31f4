"""An engine that travels: a package of relight as one zip file on the path of the host's Python."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass

from relight.errors import HostError
from relight.store.service import ServiceStore, on_host


@dataclass(frozen=True)
class Archive:
    """One zip file, named by its bytes."""

    package: str
    content: bytes

    @property
    def filename(self) -> str:
        """Return the file's name on the host."""
        return f"{self.package}-{hashlib.sha256(self.content).hexdigest()[:16]}.zip"

    def place(self, home: str) -> str:
        """Return the path on the host, as written in the inventory (`~/` kept)."""
        return f"{home}/archives/{self.filename}"

    def ship(self, store: ServiceStore) -> None:
        """Write the file where it is not there yet."""
        place = on_host(self.place(store.home))
        folder = f"{on_host(store.home)}/archives"
        step = f"umask 077; mkdir -p {folder} && cat > {place}.new && mv -f {place}.new {place}"
        result = store.connection.control(step, data=self.content, timeout=60)
        if result.exit != 0:
            raise HostError(store.host, f"cannot write {shlex.quote(place)}: {result.err.strip()}")
