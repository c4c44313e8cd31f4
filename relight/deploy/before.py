"""What a host kept from before a launch, read in one round trip while the new server loads."""

from __future__ import annotations

from dataclasses import dataclass

from relight.core.build import Build
from relight.core.desired import Wanted
from relight.core.effective import Effective, read_effective
from relight.core.time_left import Starts, read_starts
from relight.deploy.build_checks import cached_build_step
from relight.deploy.effective import place_of
from relight.deploy.starts import STARTS
from relight.deploy.target import Target
from relight.errors import RelightError
from relight.store.kept import kept_step
from relight.store.steps import in_one


@dataclass(frozen=True)
class Before:
    """The starts so far, the flags of the build, and what was in effect with the known-good.

    `starts` is None where they could not be read: what is not known must not be written over.
    """

    starts: Starts | None = None
    build: Build | None = None
    effective: Effective | None = None


def read_before(target: Target, wanted: Wanted, known_good: str | None) -> Before:
    """Return what the host kept; what cannot be read is missing, and changes nothing else."""
    steps = [kept_step(target.store, STARTS), cached_build_step(target, wanted)]
    if known_good:
        steps.append(kept_step(target.store, place_of(known_good)))
    try:
        found = in_one(target.connection, steps)
    except (RelightError, TimeoutError):
        return Before()
    said = [one.out for one in found if one.exit == 0]
    return Before(
        starts=read_starts(said[0]) if said else None,
        build=_build(target, said[1]) if len(said) > 1 else None,
        effective=read_effective(said[2]) if len(said) > 2 else None,
    )


def _build(target: Target, said: str) -> Build | None:
    try:
        return target.engine.read_build(said)
    except ValueError:
        return None
