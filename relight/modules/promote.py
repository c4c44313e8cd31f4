"""Verb `promote`: make the proved release the known-good, and disarm over a new connection."""

from __future__ import annotations

from relight.core.lost_lock import let_go_by
from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.target import target_of
from relight.modules import Scope
from relight.store.service import StaleFence

_KEEP = 10
"""Releases and launches that pruning leaves, beside current and known-good."""


class Args(Frozen):
    """`fence` is what `switch` registered; `degraded` whether something was given up.

    `let_go` gives the lock back in the same step, where nothing follows that needs it.
    """

    service: str = "main"
    fence: int = 0
    release: str = ""
    degraded: bool = False
    let_go: bool = False


def run(args: Args, scope: Scope) -> Outcome:
    """Promote; a host that cannot be reached anew is not promoted, and its dead-man returns it.

    Registers `let_go`: whether the lock was given back.
    """
    if scope.check:
        return Outcome(changed=True, msg="would promote what proves itself")
    connection = scope.anew().take()
    try:
        target = target_of(scope.project, scope.host, args.service, connection, scope.report)
        store = target.store
        if args.degraded and not target.preset.promote_degraded:
            store.record(args.fence, "kept", release=args.release, why="promote_degraded is false")
            store.disarm(args.fence)
            return Outcome(changed=True, msg=f"{args.release} serves; degraded, so not known-good")
        try:
            store.confirm(args.fence, args.release, _KEEP, let_go=args.let_go)
        except StaleFence as stale:
            # A power cut takes the lock, and not what was promoted before it. An answer that was
            # lost on its way leaves all of it done, and the step is refused when it is repeated.
            observed = store.status()
            if observed.known_good != args.release:
                raise
            if not (args.let_go and let_go_by(observed.ledger, args.fence)):
                return Outcome(
                    changed=True, msg=f"{args.release} is the known-good; since then, {stale}"
                )
    finally:
        connection.close()
    told = f"{args.release} is the known-good{', unlocked' if args.let_go else ''}"
    return Outcome(changed=True, msg=told, values={"let_go": args.let_go})
