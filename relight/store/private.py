"""The files of secrets that a host keeps: beside each release, readable by their user alone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relight.errors import HostError
from relight.store.service import ServiceStore


@dataclass(frozen=True)
class PrivateFiles:
    """Texts of files of secrets, by their place below the service's folder; shown by no repr."""

    texts: Mapping[str, str] = field(repr=False)

    def own(self, release: str) -> dict[str, str]:
        """Return the files that lie with a release, by name."""
        folder = f"releases/{release}/"
        return {
            place.removeprefix(folder): text
            for place, text in self.texts.items()
            if place.startswith(folder)
        }

    def of(self, release: str) -> dict[str, str]:
        """Return the files that a release's launch reads, by name.

        A release of relight before 2026-12 has none of its own: its launch.sh reads the service's.
        """
        return self.own(release) or {
            place: text for place, text in self.texts.items() if "/" not in place
        }


def read_private(store: ServiceStore, names: Sequence[str], release: str = "") -> PrivateFiles:
    """Return the files of these names: a release's (of all without one) and the service's."""
    folder = f"releases/{shlex.quote(release) if release else '*'}"
    places = [f"{where}{shlex.quote(name)}" for name in names for where in ("", f"{folder}/")]
    shown = "printf '%s\\037' \"$one\"; cat -- \"$one\"; printf '\\036'"
    step = (
        f"cd {store.directory} 2>/dev/null || exit 0; "
        f'for one in {" ".join(places)}; do [ ! -f "$one" ] || {{ {shown}; }}; done'
    )
    result = store.connection.control(step)
    if result.exit != 0:
        raise HostError(store.host, f"cannot read private files: {result.err.strip()[-300:]}")
    parts = (part.partition("\x1f") for part in result.out.split("\x1e") if part)
    return PrivateFiles({place: text for place, _, text in parts})
