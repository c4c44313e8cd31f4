"""Verb `doctor`: fails where something stands in the way of a deploy, and says what to do."""

from __future__ import annotations

from relight.core.doctor import Finding
from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.doctor import examine
from relight.deploy.target import target_of
from relight.modules import Scope


class Args(Frozen):
    """`service` is one of the host's `relight_services`; `strict` takes warnings as faults."""

    service: str = "main"
    strict: bool = False


def run(args: Args, scope: Scope) -> Outcome:
    """Look, change nothing; the message holds all that is not well, the values every finding."""
    target = target_of(
        scope.project, scope.host, args.service, scope.open_connection(), scope.report
    )
    found = examine(target)
    bad = ("fault", "warning") if args.strict else ("fault",)
    told = [_line(one) for one in found if one.level in ("fault", "warning")]
    return Outcome(
        failed=any(one.level in bad for one in found),
        msg="\n".join(told) or f"{len(found)} findings, nothing stands in the way",
        values={"findings": [one.model_dump(mode="json") for one in found]},
    )


def _line(one: Finding) -> str:
    return f"{one.level}: {one.subject}: {one.what}" + (f"; {one.remedy}" if one.remedy else "")
