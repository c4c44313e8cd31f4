"""Verb `restart`: the current release again, the same bytes, proved ready."""

from __future__ import annotations

from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.rollback import roll_back
from relight.deploy.session import take_lock
from relight.deploy.target import target_of
from relight.errors import HostError
from relight.modules import Scope


class Args(Frozen):
    """`wait` is how long to wait for another deploy, in seconds."""

    service: str = "main"
    wait: float = 0.0


def run(args: Args, scope: Scope) -> Outcome:
    """Stop the server within its drain and start the known-good again."""
    target = target_of(
        scope.project,
        scope.host,
        args.service,
        scope.open_connection(),
        scope.report,
        stopped=scope.stopped,
    )
    observed = target.store.peek(target.service.port)
    back = observed.known_good or observed.current
    if back is None:
        raise HostError(scope.host, f"service {args.service} was never deployed", "deploy it first")
    if scope.check:
        return Outcome(changed=True, msg=f"would restart {back}")
    fence = take_lock(target, "restart", wait=args.wait)
    try:
        target.store.arm(fence, target.preset.drain + 60)
        target.store.stop(fence, target.preset.drain)
        came = roll_back(target, fence, to=back, why="restart")
    finally:
        target.store.unlock(fence)
    return Outcome(
        changed=True,
        failed=not came.serves,
        msg=came.message.replace("rolled back to", "restarted"),
        exit_code=came.exit_code(asked=True),
    )
