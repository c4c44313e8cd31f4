"""Verb `stop`: the operator wants the service down; it stays down, also after a reboot."""

from __future__ import annotations

from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.session import take_lock
from relight.deploy.target import target_of
from relight.modules import Scope


class Args(Frozen):
    """`wait` is how long to wait for another deploy, in seconds."""

    service: str = "main"
    wait: float = 0.0


def run(args: Args, scope: Scope) -> Outcome:
    """Stop within the preset's drain; unchanged when nothing of ours runs."""
    target = target_of(
        scope.project, scope.host, args.service, scope.open_connection(), scope.report
    )
    observed = target.store.peek(target.service.port)
    if not observed.pids and observed.state in ("none", "stopped"):
        return Outcome(msg=f"nothing runs ({observed.state})")
    if scope.check:
        return Outcome(changed=True, msg=f"would stop {observed.current}")
    fence = take_lock(target, "stop", wait=args.wait)
    try:
        target.store.disarm(fence)
        how = target.store.quit(fence, target.preset.drain)
    finally:
        target.store.unlock(fence)
    return Outcome(changed=True, msg=f"{observed.current} stopped ({how or 'it was gone'})")
