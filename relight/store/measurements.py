"""What was measured of a service's launches, a file each on its host."""

from __future__ import annotations

import shlex

from relight.errors import HostError
from relight.store.kept import keep
from relight.store.service import ServiceStore


def keep_measurement(store: ServiceStore, name: str, text: bytes) -> None:
    """Keep what a benchmark measured, under the launch that it measured."""
    keep(store, f"measurements/{name}.json", text)


def kept_measurements(store: ServiceStore, release: str, newest: int = 8) -> list[str]:
    """Return what was measured of a release (`*`: of all), oldest first."""
    which = "*" if release == "*" else shlex.quote(release) + "."
    step = (
        f"cd {store.directory}/measurements 2>/dev/null || exit 0; "
        f"ls -1tr -- {which}*.json 2>/dev/null | tail -n {int(newest)} | "
        "while read -r one; do cat -- \"$one\"; printf '\\036'; done"
    )
    result = store.connection.control(step, timeout=60)
    if result.exit != 0:
        raise HostError(store.host, f"cannot read measurements: {result.err.strip()[-300:]}")
    return [part for part in result.out.split("\x1e") if part.strip()]
