"""Verb `adopt`: a server that runs unmanaged becomes the known-good release, without a restart."""

from __future__ import annotations

from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.session import take_lock
from relight.deploy.takeover import find_server, take_over
from relight.deploy.target import target_of
from relight.errors import HostError
from relight.modules import Scope


class Args(Frozen):
    """`pid` 0 looks for who listens on the service's port; `wait` is in seconds."""

    service: str = "main"
    pid: int = 0
    wait: float = 0.0


def run(args: Args, scope: Scope) -> Outcome:
    """Adopt what runs; fails with the reason when there is nothing that may be adopted."""
    target = target_of(
        scope.project,
        scope.host,
        args.service,
        scope.open_connection(),
        scope.report,
        stopped=scope.stopped,
    )
    observed = target.store.peek()
    if observed.pids:
        raise HostError(
            scope.host,
            f"service {args.service} runs {observed.current} already: it is relight's own",
        )
    server = find_server(target, args.pid)
    what = f"process {server.process.pid} ({server.command.model}, port {server.port})"
    if scope.check:
        return Outcome(changed=True, msg=f"would adopt {what}")
    fence = take_lock(target, "adopt", wait=args.wait)
    try:
        release = take_over(target, fence, server)
    finally:
        target.store.unlock(fence)
    return Outcome(
        changed=True,
        msg=f"{release.id} is the known-good: {what}, adopted as it runs",
        values={"release": release.id, "pid": server.process.pid, "port": server.port},
    )
