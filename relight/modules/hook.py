"""Verb `hook`: the project's own commands, run on the controller when a deploy has ended."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from typing import Any

from relight.connections import connect
from relight.core.address import Address
from relight.core.events import Note
from relight.core.hooks import Hook, HookEvent, Told, told_of
from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.errors import RelightError
from relight.modules import Scope

_LAST = 300


class Args(Frozen):
    """`hooks` are commands by event; `came` is what the deploy's tasks registered, by name."""

    service: str = "main"
    hooks: dict[HookEvent, tuple[Hook, ...]] = {}
    came: dict[str, dict[str, Any]] = {}


def run(args: Args, scope: Scope) -> Outcome:
    """Run the event's commands, one after the other, each with the event as JSON on its stdin.

    A command that fails or takes too long is told and changes no outcome.
    """
    told = told_of(scope.host, args.service, args.came)
    if told is None:
        return Outcome(msg="nothing happened that a hook is told")
    hooks = args.hooks.get(told.event, ())
    if not hooks or scope.check:
        return Outcome(msg=f"{told.event}: {len(hooks)} hooks", values={"event": told.event})
    told = told.model_copy(update={"at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")})
    faults = [fault for hook in hooks if (fault := _call(hook, told, scope))]
    for fault in faults:
        scope.report(Note(level="warning", host=scope.host, text=fault))
    ran = f"{told.event}: {len(hooks) - len(faults)} of {len(hooks)} hooks ended well"
    return Outcome(msg=ran, values={"event": told.event, "faults": faults})


def _call(hook: Hook, told: Told, scope: Scope) -> str:
    """Run one command and return what is wrong with it, or nothing."""
    data = told.model_dump_json(by_alias=True).encode() + b"\n"
    script = f"cd {shlex.quote(str(scope.project.root.absolute()))} && {{ {hook.command}\n}}"
    connection = connect(Address(name="controller", connection="local"))
    try:
        result = connection.run(
            script,
            data=data,
            timeout=hook.timeout,
            environment={"RELIGHT_EVENT": told.event, "RELIGHT_HOST": told.host},
        )
    except TimeoutError:
        return f"hook `{hook.command}` did not end within {hook.timeout:g} s, and was ended"
    except RelightError as error:
        return f"hook `{hook.command}` could not run: {error}"
    finally:
        connection.close()
    if result.exit == 0:
        return ""
    said = (result.err or result.out).strip()[-_LAST:]
    return f"hook `{hook.command}` ended with status {result.exit}: {said}"
