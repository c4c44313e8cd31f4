"""`setup`: what a host is, in one round trip; runs by itself when a play gathers facts."""

from __future__ import annotations

from typing import Any

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.core.posix.answers import told
from relight.core.posix.facts import SCRIPT, facts
from relight.modules import Scope


class Args(Arguments):
    """`filter` and `gather_subset` are Ansible's; all facts come in one go whatever they say."""

    filter: Any = None
    gather_subset: Any = None


def run(_args: Args, scope: Scope) -> Outcome:
    """Look; nothing is changed."""
    return Outcome(facts=facts(told(scope.open_connection().control(SCRIPT))))
