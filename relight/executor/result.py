"""What a task came to on one host, as it is registered, counted and reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relight.core.events import Status
from relight.core.outcome import Diff


@dataclass
class Included:
    """A file that a task includes on a host: with which values of its loop."""

    file: str
    loop: Mapping[str, Any]
    apply: Mapping[str, Any]


@dataclass
class TaskResult:
    """A result: `values` are what `register` keeps."""

    values: dict[str, Any]
    learnt: dict[str, Any] = field(default_factory=dict)
    """What `set_fact` set."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What a module found out about the host."""
    diff: tuple[Diff, ...] = ()
    included: list[Included] = field(default_factory=list)
    notify: list[str] | None = None
    """What a loop's items notify; None where the task has no loop."""
    exit_code: int | None = None
    degraded: bool = False
    ignored: bool = False
    """Whether `ignore_errors` or `ignore_unreachable` covers what happened."""
    secret: bool = False
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Return whether the task failed; `failed_when` has the last word, as in Ansible."""
        judged = [item for item in self.values.get("results", ()) if "failed_when_result" in item]
        if "failed_when_result" in self.values:
            return bool(self.values["failed_when_result"])
        if judged and self.values.get("failed"):
            return any(bool(item["failed_when_result"]) for item in judged)
        return bool(self.values.get("failed"))

    @property
    def changed(self) -> bool:
        """Return whether the task changed something."""
        return bool(self.values.get("changed"))

    @property
    def skipped(self) -> bool:
        """Return whether the task was skipped."""
        return bool(self.values.get("skipped"))

    @property
    def unreachable(self) -> bool:
        """Return whether the host was out of reach."""
        return bool(self.values.get("unreachable"))

    @property
    def message(self) -> str:
        """Return what a person should read of it."""
        return str(self.values.get("msg") or "")

    def status(self) -> Status:
        """Return the one word for it; a rescued failure is told apart by who knows of it."""
        if (self.unreachable or self.failed) and self.ignored:
            return "ignored"
        if self.unreachable:
            return "unreachable"
        if self.failed:
            return "failed"
        if self.skipped:
            return "skipped"
        return "changed" if self.changed else "ok"


def failure(message: str, **more: Any) -> TaskResult:
    """Return a failed result."""
    return TaskResult({"changed": False, "failed": True, "msg": message, **more})
