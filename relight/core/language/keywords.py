"""The keywords of a playbook: where each may stand, what it takes; which are refused, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "text", "name", "flag", "number", "texts", "mapping", "condition", "loop", "environment",
    "tasks", "any", "serial", "loop_control",
]  # fmt: skip
Place = Literal["play", "block", "task", "handler"]

_ALL: tuple[Place, ...] = ("play", "block", "task", "handler")
_INNER: tuple[Place, ...] = ("block", "task", "handler")
_TASK: tuple[Place, ...] = ("task", "handler")


@dataclass(frozen=True)
class Keyword:
    """What a keyword takes and where it may stand; `inherited` ones reach the tasks inside."""

    kind: Kind
    places: tuple[Place, ...]
    inherited: bool = False


KEYWORDS: Mapping[str, Keyword] = {
    "name": Keyword("text", _ALL),
    "vars": Keyword("mapping", _ALL),
    "tags": Keyword("texts", _ALL),
    "when": Keyword("condition", _INNER),
    "environment": Keyword("environment", _ALL),
    "become": Keyword("flag", _ALL, inherited=True),
    "become_user": Keyword("text", _ALL, inherited=True),
    "become_method": Keyword("text", _ALL, inherited=True),
    "ignore_errors": Keyword("flag", _ALL, inherited=True),
    "ignore_unreachable": Keyword("flag", _ALL, inherited=True),
    "any_errors_fatal": Keyword("flag", _ALL, inherited=True),
    "run_once": Keyword("flag", _ALL, inherited=True),
    "no_log": Keyword("flag", _ALL, inherited=True),
    "check_mode": Keyword("flag", _ALL, inherited=True),
    "diff": Keyword("flag", _ALL, inherited=True),
    "timeout": Keyword("number", _ALL, inherited=True),
    "throttle": Keyword("number", _ALL, inherited=True),
    "connection": Keyword("text", _ALL, inherited=True),
    "block": Keyword("tasks", ("block",)),
    "rescue": Keyword("tasks", ("block",)),
    "always": Keyword("tasks", ("block",)),
    "notify": Keyword("texts", _INNER),
    "args": Keyword("mapping", _TASK),
    "action": Keyword("any", _TASK),
    "loop": Keyword("loop", _TASK),
    "loop_control": Keyword("loop_control", _TASK),
    "register": Keyword("name", _TASK),
    "until": Keyword("condition", _TASK),
    "retries": Keyword("number", _TASK),
    "delay": Keyword("number", _TASK),
    "changed_when": Keyword("condition", _TASK),
    "failed_when": Keyword("condition", _TASK),
    "listen": Keyword("texts", ("handler",)),
    "hosts": Keyword("texts", ("play",)),
    "gather_facts": Keyword("flag", ("play",)),
    "vars_files": Keyword("any", ("play",)),
    "serial": Keyword("serial", ("play",)),
    "max_fail_percentage": Keyword("number", ("play",)),
    "strategy": Keyword("text", ("play",)),
    "order": Keyword("text", ("play",)),
    "force_handlers": Keyword("flag", ("play",)),
    "pre_tasks": Keyword("tasks", ("play",)),
    "tasks": Keyword("tasks", ("play",)),
    "post_tasks": Keyword("tasks", ("play",)),
    "handlers": Keyword("tasks", ("play",)),
}

INHERITED = tuple(name for name, keyword in KEYWORDS.items() if keyword.inherited)
APPENDED = ("when", "environment")
LOOP_CONTROL: Mapping[str, Kind] = {
    "loop_var": "name",
    "index_var": "name",
    "label": "any",
    "pause": "number",
    "extended": "flag",
    "extended_allitems": "flag",
    "break_when": "condition",
}

REFUSED: Mapping[str, str] = {
    "delegate_to": "a task acts on its own host only; write a play for the other host",
    "local_action": "a task acts on its own host only; write a play for localhost",
    "delegate_facts": "a task acts on its own host only; write a play for the other host",
    "async": "relight runs no jobs in the background; use `until`, or a service of the host",
    "poll": "relight runs no jobs in the background; use `until`, or a service of the host",
    "roles": "relight has no roles; use import_tasks",
    "vars_prompt": "relight asks nothing; pass the value with -e",
    "module_defaults": "write the arguments at the tasks",
    "collections": "relight has its own modules only",
    "debugger": "relight has no debugger",
    "remote_user": "set ansible_user in the inventory",
    "port": "set ansible_port in the inventory",
    "become_exe": "sudo is found by its name",
    "become_flags": "sudo is called without a password prompt",
    "fact_path": "relight reads no custom facts",
    "gather_subset": "all facts come in one round trip",
    "gather_timeout": "all facts come in one round trip",
    "with_dict": 'write `loop: "{{ ... | dict2items }}"`',
    "with_fileglob": "write the files in a `loop`",
    "with_sequence": 'write `loop: "{{ range(1, 5) | list }}"`',
    "with_together": 'write `loop: "{{ a | zip(b) | list }}"`',
    "with_nested": 'write `loop: "{{ a | product(b) | list }}"`',
    "with_subelements": "write `loop` with subelements('key')",
    "with_items": "write `loop`",
    "with_list": "write `loop`",
}  # fmt: skip


def at(place: Place) -> tuple[str, ...]:
    """Return the keywords that may stand at a place."""
    return tuple(name for name, keyword in KEYWORDS.items() if place in keyword.places)
