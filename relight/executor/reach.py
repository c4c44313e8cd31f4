"""How a task reaches its host: what its keywords and the variables of the play change."""

from __future__ import annotations

from typing import Any

from relight.core.language.lazy import plain
from relight.core.language.playbook import Task
from relight.core.language.templating import Templar, TemplateFault
from relight.executor.flags import flag
from relight.executor.hosts import Host
from relight.executor.variables import Batch
from relight.project.connection_variables import FIELDS

_KEYWORDS = ("become", "become_user", "connection")


def address_changes(batch: Batch, host: Host, task: Task, templar: Templar) -> dict[str, Any]:
    """Return the fields of the host's address that are different for a task.

    As in Ansible a connection variable of any level wins over the keyword of the same name. Raises
    `TemplateFault`.
    """
    changes: dict[str, Any] = {}
    for keyword in _KEYWORDS:
        value = task.option(keyword)
        if value is not None and f"ansible_{keyword}" not in templar:
            changes[keyword] = templar.render(value)
    levels = (
        batch.play.variables, *task.inherited.variables, *task.inherited.include,
        *task.inherited.fixed, host.learnt,
    )  # fmt: skip
    said = {name for level in levels for name in level if name.startswith("ansible_")}
    for name, field in FIELDS.items():
        if name in said:
            changes[field] = plain(templar.look_up(name))
    for name in ("become", "host_key_checking"):
        if name in changes:
            changes[name] = flag(templar, changes[name], default=False)
    for name, value in changes.items():
        if isinstance(value, dict | list):
            raise TemplateFault(f"{name} cannot be a {type(value).__name__}")
    return changes
