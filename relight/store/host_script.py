"""The one script that does everything on a host, put together from its parts and a launcher."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from relight.core.launcher import Launcher

PARTS = (
    "10-ground.sh",
    "20-processes.sh",
    "25-holders.sh",
    "30-launch.sh",
    "35-stop.sh",
    "40-releases.sh",
    "45-adopt.sh",
    "50-lock.sh",
    "60-deadman.sh",
    "70-status.sh",
    "90-main.sh",
)


@dataclass(frozen=True)
class HostScript:
    """The text of host.sh and the hash that names its version."""

    text: bytes
    version: str


def assemble(template: Callable[[str], str], launcher: Launcher) -> HostScript:
    """Return the host script for a launcher; `template` reads a file under templates/."""
    *parts, main = (template(f"host/{part}") for part in PARTS)
    body = "\n".join([*parts, launcher.functions, main])
    version = hashlib.sha256(body.encode()).hexdigest()[:16]
    head = (
        f"#!/bin/sh\n# host.sh {version}: what relight does to one service here; shipped by it.\n"
        f"script_hash={version}\nlauncher_name={launcher.name}\n"
    )
    return HostScript(text=(head + body).encode(), version=version)
