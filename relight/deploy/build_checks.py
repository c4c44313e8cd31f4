"""What the installed build itself says of a command line, asked while the old server serves."""

from __future__ import annotations

from dataclasses import dataclass, field

from relight.core.desired import Wanted
from relight.deploy.target import Target


@dataclass(frozen=True)
class Build:
    """Faults of the base flags, and layers that the build refuses, each with its reason."""

    faults: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def check_build(target: Target, wanted: Wanted, *, write: bool) -> Build:
    """Ask the build."""
    del target, wanted, write
    return Build()
