"""Verb `rollback`: stored bytes serve again, the known-good or another release by its name."""

from __future__ import annotations

from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.rollback import roll_back, would_bring
from relight.deploy.session import take_lock
from relight.deploy.target import target_of
from relight.modules import Scope


class Args(Frozen):
    """`to` is a release (empty: the known-good); `fence` 0 takes the lock for itself."""

    service: str = "main"
    to: str = ""
    fence: int = 0
    why: str = "operator"
    wait: float = 0.0


def run(args: Args, scope: Scope) -> Outcome:
    """Roll back and prove it; as part of a failed deploy it ends in exit code 3, or 5 when dark."""
    target = target_of(
        scope.project, scope.host, args.service, scope.open_connection(), scope.report
    )
    if scope.check:
        observed = target.store.peek(target.service.port)
        back = args.to or observed.known_good or "nothing: there is no known-good"
        told = (
            f"would return from {observed.current} to {back}",
            would_bring(target, observed, back),
        )
        return Outcome(changed=True, msg="; ".join(filter(None, told)))
    fence = args.fence or take_lock(target, "rollback", wait=args.wait)
    try:
        came = roll_back(target, fence, to=args.to, why=args.why)
    finally:
        if not args.fence:
            target.store.unlock(fence)
    return Outcome(
        changed=came.changed,
        failed=not came.serves or came.missed,
        msg=came.message,
        values={"release": came.release, "serves": came.serves, "fence": fence},
        exit_code=came.exit_code(asked=args.why == "operator"),
    )
