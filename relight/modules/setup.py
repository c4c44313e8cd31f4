"""`setup`: what a host is, in one round trip; runs by itself when a play gathers facts."""

from __future__ import annotations

import fnmatch
from typing import Any

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.core.posix.answers import told
from relight.core.posix.facts import SCRIPT, facts
from relight.modules import Scope


class Args(Arguments):
    """`filter` names the facts that are kept; all come in one go whatever `gather_subset` says."""

    filter: str | tuple[str, ...] | None = None
    gather_subset: Any = None


def run(args: Args, scope: Scope) -> Outcome:
    """Look; nothing is changed."""
    said = told(scope.open_connection().control(SCRIPT))
    if "error" in said:
        return Outcome(failed=True, msg=said["error"])
    found = facts(said)
    wanted = [args.filter] if isinstance(args.filter, str) else list(args.filter or ())
    if not any(wanted):
        return Outcome(facts=found)
    globs = [f"ansible_{glob.removeprefix('ansible_')}" for glob in wanted]
    kept = {
        name: value
        for name, value in found.items()
        if any(fnmatch.fnmatch(name, glob) for glob in globs)
    }
    return Outcome(facts=kept)
