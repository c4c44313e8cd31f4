"""Verb `finish`: let go of the lock, and first undo a deploy that was not confirmed."""

from __future__ import annotations

from relight.core.lost_lock import promoted_by, taken_over
from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.rollback import roll_back
from relight.deploy.target import target_of
from relight.errors import EXIT_DARK, EXIT_ROLLED_BACK
from relight.modules import Scope
from relight.store.service import StaleFence


class Args(Frozen):
    """`fence` is what `switch` registered; 0 means that it never took the lock."""

    service: str = "main"
    fence: int = 0


def run(args: Args, scope: Scope) -> Outcome:
    """Unlock; when interrupted between stop and promotion, roll back first."""
    if scope.check or not args.fence:
        return Outcome(msg="no lock was taken")
    target = target_of(
        scope.project, scope.host, args.service, scope.open_connection(), scope.report
    )
    store = target.store
    try:
        if store.finish(args.fence) == "begun":
            came = roll_back(target, args.fence, to="", why="interrupted")
            store.unlock(args.fence)
            code = EXIT_ROLLED_BACK if came.serves else EXIT_DARK
            values = {"serves": came.serves, "release": came.release}
            return Outcome(changed=True, msg=came.message, values=values, exit_code=code)
    except StaleFence as stale:
        observed = store.status()
        since = taken_over(observed.ledger, args.fence)
        if observed.confirmed and observed.known_good == promoted_by(observed.ledger, args.fence):
            return Outcome(
                msg=f"{observed.known_good} was promoted before the lock was lost; {since}"
            )
        code = EXIT_ROLLED_BACK if observed.state == "running" else EXIT_DARK
        msg = f"{stale}; {since}"
        return Outcome(failed=True, msg=msg, exit_code=code)
    return Outcome(msg="unlocked")
