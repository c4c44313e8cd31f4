"""`set_fact`: give a host variables that later tasks see."""

from __future__ import annotations

import re

from pydantic import ConfigDict

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.modules import Scope

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WORDS = frozenset({
    "true", "false", "none", "True", "False", "None", "not", "and", "or", "if", "else", "in", "is",
})  # fmt: skip
"""Words of Jinja, which no template could read as a variable."""


class Args(Arguments):
    """Any names with any values; `cacheable` is Ansible's and changes nothing here."""

    model_config = ConfigDict(extra="allow")

    cacheable: bool = False


def run(args: Args, _scope: Scope) -> Outcome:
    """Return the variables as facts."""
    facts = dict(args.model_extra or {})
    wrong = [name for name in facts if not _NAME.fullmatch(name) or name in _WORDS]
    if wrong:
        return Outcome(
            failed=True,
            msg=f"The variable name {wrong[0]!r} is not valid. Variables must start with a letter "
            "or underscore character, and contain only letters, numbers and underscores.",
        )
    if not facts:
        return Outcome(failed=True, msg="No key/value pairs provided, at least one is required")
    return Outcome(facts=facts)
