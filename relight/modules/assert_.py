"""`assert`: go on only while conditions hold."""

from __future__ import annotations

from typing import Any

from relight.core.language.arguments import Arguments
from relight.core.language.templating import Templar
from relight.core.outcome import Outcome
from relight.modules import Scope

RAW = ("that",)


class Args(Arguments):
    """The arguments of Ansible's `assert`; `that` are conditions, rendered one by one."""

    that: Any
    fail_msg: str | tuple[str, ...] | None = None
    msg: str | tuple[str, ...] | None = None
    success_msg: str | tuple[str, ...] = "All assertions passed"
    quiet: bool = False


def run(args: Args, scope: Scope) -> Outcome:
    """Fail at the first condition that does not hold."""
    templar = scope.templar or Templar({}, scope.variables)
    conditions = args.that if isinstance(args.that, list | tuple) else [args.that]
    for condition in conditions:
        if not templar.condition(condition):
            message = args.fail_msg or args.msg or "Assertion failed"
            values = {"evaluated_to": False, "assertion": condition, "msg": message}
            return Outcome(failed=True, values=values)
    return Outcome(values={"msg": args.success_msg})
