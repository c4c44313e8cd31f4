"""Which event a deploy was, from what its tasks registered; and how a hook may be written."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from relight.core.hooks import Hook, told_of

DONE: dict[str, dict[str, Any]] = {
    "seen": {"failed": False},
    "checked": {"failed": False},
    "switched": {
        "changed": True,
        "release": "0002-a-b",
        "known_good": "0001-a-b",
        "attempts": 2,
        "downtime": 3.5,
        "msg": "ready",
    },
    "measured": {"tok_s": 50.5, "failed": False},
    "back": {},
}


def came(**more: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a deploy registered, with some of it changed."""
    return {**DONE, **more}


def test_a_deploy_that_changed_something_is_deployed() -> None:
    """Release, attempts, downtime and speed are told."""
    told = told_of("box", "main", came())
    assert told is not None
    assert told.model_dump(exclude={"at", "schema_"}) == {
        "event": "deployed",
        "host": "box",
        "service": "main",
        "release": "0002-a-b",
        "known_good": "0001-a-b",
        "serves": True,
        "reason": "",
        "attempts": 2,
        "downtime": 3.5,
        "tok_s": 50.5,
    }


def test_a_deploy_that_changed_nothing_is_not_told() -> None:
    """What is asked for serves already: no hook runs."""
    assert told_of("box", "main", came(switched={"changed": False, "release": "r"})) is None


def test_degraded_has_its_reason() -> None:
    """The event has a name of its own, and says what is missing."""
    switched = {**DONE["switched"], "degraded": True, "msg": "degraded: without layer x"}
    told = told_of("box", "main", came(switched=switched))
    assert told is not None
    assert (told.event, told.reason) == ("degraded", "degraded: without layer x")


@pytest.mark.parametrize(("serves", "event"), [(True, "rolled_back"), (False, "failed")])
@pytest.mark.parametrize("who", ["back", "finished"])
def test_a_rollback_is_told_by_how_it_ended(who: str, serves: object, event: str) -> None:
    """Serving again is rolled back, dark is failed; the reason is why it was needed."""
    measured: dict[str, Any] = {"failed": True, "msg": "worse than the known-good"}
    undone: dict[str, Any] = {"serves": serves, "release": "0001-a-b"}
    told = told_of("box", "main", came(measured=measured, **{who: undone}))
    assert told is not None
    assert (told.event, told.serves, told.release) == (event, serves, "0001-a-b")
    assert told.reason == "worse than the known-good"


def test_a_fault_before_the_switch_is_failed() -> None:
    """Preflight's words are the reason, and what serves goes on serving."""
    registered: dict[str, dict[str, Any]] = {
        "seen": {"failed": False},
        "checked": {"failed": True, "msg": "no such model"},
    }
    told = told_of("box", "main", registered)
    assert told is not None
    assert (told.event, told.reason, told.serves) == ("failed", "no such model", True)
    lost = told_of("box", "main", {})
    assert lost is not None
    assert lost.event == "failed"


def test_a_hook_is_a_command_or_a_command_with_a_limit() -> None:
    """Both ways are read; an empty command is refused."""
    assert Hook.model_validate("notify") == Hook(command="notify", timeout=30.0)
    assert Hook.model_validate({"command": "n", "timeout": "2m"}).timeout == 120.0
    with pytest.raises(ValidationError):
        Hook.model_validate("")
