"""Commands of the project that are told how a deploy ended: which one, and with what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from relight.core.duration import Seconds
from relight.core.model import Frozen

HookEvent = Literal["deployed", "degraded", "rolled_back", "failed"]


class Hook(Frozen):
    """A shell command that runs on the controller, in the project's folder; written alone or so."""

    command: str = Field(min_length=1)
    timeout: Seconds = 30.0

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        return {"command": value} if isinstance(value, str) else value


class Told(Frozen):
    """What a hook reads on stdin, as one JSON object; no secret is among it."""

    schema_: Literal[1] = 1
    event: HookEvent
    host: str
    service: str
    release: str = ""
    known_good: str = ""
    serves: bool = True
    reason: str = ""
    attempts: int = 0
    downtime: float = 0.0
    tok_s: float | None = None
    at: str = ""


def told_of(host: str, service: str, came: Mapping[str, Mapping[str, Any]]) -> Told | None:
    """Return what to tell of a deploy, from what its tasks registered; None when nothing changed.

    `came` has what was registered under seen, checked, written, switched, measured, promoted, back
    and finished; those that did not run are not there or empty.
    """
    switched, measured = came.get("switched", {}), came.get("measured", {})
    steps = ("seen", "checked", "written", "switched", "measured", "promoted")
    wrong = next((came[name] for name in steps if came.get(name, {}).get("failed")), None)
    common = {
        "host": host,
        "service": service,
        "attempts": switched.get("attempts", 0),
        "downtime": switched.get("downtime", 0.0),
        "tok_s": measured.get("tok_s"),
        "known_good": str(switched.get("known_good") or ""),
        "release": str(switched.get("release") or ""),
        "reason": str(wrong.get("msg", "")) if wrong else "",
    }
    undone = next((one for one in (came.get("back"), came.get("finished")) if _undid(one)), None)
    if undone is not None:
        serves = bool(undone["serves"])
        told = {"serves": serves, "release": str(undone.get("release") or "")}
        return _told(common, "rolled_back" if serves else "failed", told)
    if wrong is not None or not switched:
        return _told(common, "failed", {})
    if not switched.get("changed"):
        return None
    if switched.get("degraded"):
        return _told(common, "degraded", {"reason": str(switched.get("msg", ""))})
    return _told(common, "deployed", {})


def _undid(registered: Mapping[str, Any] | None) -> bool:
    return bool(registered) and "serves" in (registered or {})


def _told(common: Mapping[str, Any], event: HookEvent, more: Mapping[str, Any]) -> Told:
    return Told.model_validate({**common, "event": event, **more})
