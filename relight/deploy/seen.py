"""What `facts` registered, read back by the verbs that follow it in a playbook."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from relight.core.facts import HostFacts
from relight.core.observed import Observed
from relight.deploy.look import Seen
from relight.errors import UsageError


def read_seen(registered: dict[str, Any]) -> Seen:
    """Return facts and state; raises UsageError when it is not what `facts` registered."""
    try:
        return Seen(
            facts=HostFacts.model_validate_json(_json(registered["facts"])),
            observed=Observed.model_validate_json(_json(registered["service"])),
        )
    except (KeyError, ValidationError):
        raise UsageError(
            "`seen` is not what the verb `facts` registered; write `register: seen` on a task "
            "`facts:` before this one"
        ) from None


def _json(value: Any) -> str:
    import json  # noqa: PLC0415 - only a deploy that registers needs it

    return json.dumps(value)
