"""What a host knows that a deploy asks before it stops anything, read in one round trip."""

from __future__ import annotations

from dataclasses import dataclass

from relight.core.attempt import Refused
from relight.core.build import Build
from relight.core.desired import Wanted
from relight.core.observed import Observed
from relight.deploy.build_checks import FLAGS_WITHIN, build_said, build_step
from relight.deploy.remembered import memory_said, memory_step
from relight.deploy.target import Target
from relight.deploy.way_back import way_back
from relight.errors import HostError
from relight.store.steps import in_one

_ALWAYS = 2  # the steps that every deploy asks: the memory, and the way back


@dataclass(frozen=True)
class Learnt:
    """What the build rejected before, the build's flags, and why there is no way back.

    `build` is None where it was not asked for or cannot be read.
    """

    remembered: tuple[Refused, ...] = ()
    build: Build | None = None
    no_way_back: str = ""


def read_learnt(
    target: Target, wanted: Wanted, observed: Observed, *, flags: bool, write: bool
) -> Learnt:
    """Return it; with `flags` the build's flags too, and with `write` they are kept on the host.

    Raises HostError when the host cannot even say what it remembers.
    """
    back = way_back(target, observed)
    steps, data = [memory_step(target, wanted), back.step()], b""
    if flags:
        steps.append(build_step(target, wanted, write=write))
        data = target.engine.flags_script().encode()
    found = in_one(target.connection, steps, data=data, timeout=FLAGS_WITHIN)
    if len(found) < _ALWAYS:
        why = found[-1].err.strip()[-300:]
        raise HostError(target.host, f"cannot say what it remembers of this build: {why}")
    memory, lacking, *build = found
    return Learnt(
        memory_said(target, wanted, memory.out),
        build_said(target, build[0]) if build else None,
        back.broken(lacking.out),
    )
