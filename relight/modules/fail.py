"""`fail`: end with a message."""

from __future__ import annotations

from typing import Any

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.modules import Scope


class Args(Arguments):
    """The arguments of Ansible's `fail`."""

    msg: Any = "Failed as requested from task"


def run(args: Args, _scope: Scope) -> Outcome:
    """Fail."""
    return Outcome(failed=True, values={"msg": args.msg})
