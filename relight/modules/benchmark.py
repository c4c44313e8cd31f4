"""Verb `benchmark`: measure the release that just became ready, and judge it."""

from __future__ import annotations

from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.target import target_of
from relight.modules import Scope


class Args(Frozen):
    """`fence` is what `switch` registered; 0 measures without a deploy (`inv bench`)."""

    service: str = "main"
    fence: int = 0


def run(args: Args, scope: Scope) -> Outcome:
    """Measure, judge and store; fails when the preset's policy does not promote it."""
    if scope.check:
        return Outcome(msg="would measure")
    target = target_of(
        scope.project,
        scope.host,
        args.service,
        scope.open_connection(),
        scope.report,
        stopped=scope.stopped,
    )
    from relight.deploy.measure import measure  # noqa: PLC0415 - start-up time

    judged = measure(target, args.fence)
    return Outcome(
        failed=not judged.promote,
        msg=judged.sentence,
        values={"answer": judged.answer, "tok_s": judged.tok_s, "sentence": judged.sentence},
    )
