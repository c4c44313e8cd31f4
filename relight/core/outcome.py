"""What a task came to, in Ansible's words."""

from __future__ import annotations

from typing import Any

from relight.core.model import Frozen


class Diff(Frozen):
    """A change as text: what stood there, what will stand there."""

    path: str
    before: str
    after: str


class Outcome(Frozen):
    """The end of one task on one host; `values` are the module's own return values.

    `degraded` counts launches that became ready only after a fallback; `exit_code` lets a verb
    say more than failed (rolled back, dark).
    """

    changed: bool = False
    failed: bool = False
    skipped: bool = False
    unreachable: bool = False
    msg: str = ""
    values: dict[str, Any] = {}
    facts: dict[str, Any] = {}
    diff: tuple[Diff, ...] = ()
    degraded: bool = False
    exit_code: int | None = None

    def registered(self) -> dict[str, Any]:
        """Return what `register` stores: the module's values and Ansible's own keys."""
        result = {"changed": self.changed, "failed": self.failed, **self.values}
        if self.skipped:
            result["skipped"] = True
        if self.msg:
            result.setdefault("msg", self.msg)
        return result
