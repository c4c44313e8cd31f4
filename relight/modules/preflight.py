"""Verb `preflight`: everything that can be known to fail, while the old server still serves."""

from __future__ import annotations

from typing import Any

from relight.core.flags import Flags, FlagValue
from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.preflight import preflight
from relight.deploy.seen import read_seen
from relight.deploy.target import target_of
from relight.deploy.wanted import port_of, wanted_of
from relight.modules import Scope


class Args(Frozen):
    """`seen` is what `facts` registered; `engine_checks: false` skips the engine's own checks.

    `retry` forgets what this build rejected before, and tries it again.
    """

    service: str = "main"
    seen: dict[str, Any]
    set: dict[str, FlagValue | None] = {}
    without: tuple[str, ...] = ()
    engine_checks: bool = True
    retry: bool = False


def run(args: Args, scope: Scope) -> Outcome:
    """Check; a layer that is refused is named with its reason, anything worse fails the task."""
    target = target_of(
        scope.project,
        scope.host,
        args.service,
        scope.open_connection(),
        scope.report,
        changes=args.set,
        without=args.without,
    )
    seen = read_seen(args.seen)
    wanted = wanted_of(target, seen, port=port_of(target, seen))
    found = preflight(
        target,
        seen,
        wanted,
        engine_checks=args.engine_checks,
        write=not scope.check,
        retry=args.retry,
    )
    flags: Flags = wanted.preset.flags
    return Outcome(
        failed=bool(found.faults),
        msg="\n".join(found.faults) or found.summary,
        values={
            "refused": found.refused,
            "remembered": [one.model_dump(mode="json") for one in found.remembered],
            "unchanged": found.unchanged,
            "weights_mib": found.weights_mib,
            "flags": flags,
        },
    )
