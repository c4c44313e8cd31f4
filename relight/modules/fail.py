"""`fail`: end with a message."""

from __future__ import annotations

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.modules import Scope


class Args(Arguments):
    """The arguments of Ansible's `fail`."""

    msg: str = "Failed as requested from task"


def run(args: Args, _scope: Scope) -> Outcome:
    """Fail."""
    return Outcome(failed=True, msg=args.msg)
