"""One run of a module on one host: arguments rendered and checked, every end turned into words."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relight import modules
from relight.connections import Connection
from relight.core.events import Note
from relight.core.language.lazy import OMIT
from relight.core.language.playbook import ModuleSpec, Task
from relight.core.language.templating import Templar, TemplateFault
from relight.core.outcome import Outcome
from relight.errors import EXIT_FAILED, RelightError, Unreachable
from relight.executor.bounded import Bounded
from relight.executor.flags import flag
from relight.executor.hosts import Host
from relight.executor.reach import address_changes
from relight.executor.result import TaskResult, failure
from relight.executor.settings import Run
from relight.executor.variables import Batch, Plain, merged_environment
from relight.project import validation
from relight.project.marks import Document


@dataclass(frozen=True)
class Act:
    """A module, ready to run on a host."""

    spec: ModuleSpec
    args: Any
    scope: modules.Scope
    begun: float
    """When, on the monotonic clock."""


def prepare(
    run: Run, batch: Batch, host: Host, task: Task, templar: Templar, timeout: float = 0
) -> Act:
    """Return the module with its arguments; raises `TemplateFault` and ValueError."""
    spec = modules.spec(task.module)
    args = _read(spec, rendered(spec, task.args, templar))
    changes = address_changes(batch, host, task, templar)
    settings, begun, over = run.settings, time.monotonic(), run.stopped()

    def opened() -> Connection:
        connection = host.open(**changes)
        return Bounded(connection, begun + timeout) if timeout else connection

    scope = modules.Scope(
        host=host.name,
        variables=Plain(templar),
        project=settings.project,
        open_connection=opened,
        anew=lambda: host.anew(**changes),
        report=settings.report,
        check=flag(templar, task.option("check_mode"), default=settings.check),
        diff=flag(templar, task.option("diff"), default=settings.diff),
        environment=merged_environment(templar, task.inherited.environment),
        become=bool(changes.get("become")),
        templar=templar,
        stopped=lambda: run.stopped() and not over,
        folder=batch.play.folder,
        beside=task.folder,
    )
    return Act(spec, args, scope, begun)


def rendered(spec: ModuleSpec, args: Mapping[str, Any], templar: Templar) -> dict[str, Any]:
    """Return a module's arguments, rendered; those that are omitted are not there."""
    result: dict[str, Any] = {}
    for name, value in args.items():
        try:
            key = templar.render(name)
            shown = value if name in spec.raw else templar.render(value)
        except TemplateFault as fault:
            raise fault.under(name) from None
        if shown is not OMIT:
            result[str(key)] = shown
    return result


def _read(spec: ModuleSpec, values: dict[str, Any]) -> Any:
    args, faults = validation.read(spec.args, values, Document(spec.name, values, {}))
    if faults:
        said = "; ".join(f"{f.what}; {f.right}" if f.right else f.what for f in faults)
        raise ValueError(f"{spec.name}: {said}")
    return args


def act(host: Host, ready: Act, timeout: float | None = None) -> TaskResult:
    """Run a module; whatever happens comes back as a result."""
    if ready.scope.check and not ready.spec.check_mode:
        words = f"remote module ({ready.spec.name}) does not support check mode"
        return TaskResult({"changed": False, "skipped": True, "msg": words})
    host.brief = ready.spec.brief
    result = _guarded(host, ready)
    host.brief = False
    late = timeout and time.monotonic() >= ready.begun + timeout
    if late and (result.failed or result.unreachable):
        seconds = int(timeout or 0)
        words = f"Timed out after {seconds} second(s)."
        return failure(words, timedout={"period": seconds})
    return result


def _guarded(host: Host, ready: Act) -> TaskResult:
    try:
        outcome: Outcome = modules.load(ready.spec.name).run(ready.args, ready.scope)
    except Unreachable as error:
        host.close()
        return TaskResult({"changed": False, "unreachable": True, "msg": str(error)})
    except RelightError as error:
        result = failure(str(error))
        result.exit_code = None if error.exit_code == EXIT_FAILED else error.exit_code
        return result
    except TimeoutError as error:
        return failure(str(error) or "the host did not answer in time")
    except Exception as error:  # noqa: BLE001  a module's bug must not take the run down
        return _bug(ready, error)
    return _result(ready.spec.name, outcome)


def _bug(ready: Act, error: Exception) -> TaskResult:
    words = f"a bug in relight's module {ready.spec.name}: {type(error).__name__}: {error}"
    if os.environ.get("RELIGHT_DEBUG"):
        text = "".join(traceback.format_exception(error))
        ready.scope.report(Note(level="error", host=ready.scope.host, text=text))
    else:
        words += " (RELIGHT_DEBUG=1 shows where)"
    return failure(words)


def _result(module: str, outcome: Outcome) -> TaskResult:
    values = outcome.registered()
    if outcome.unreachable:
        values["unreachable"] = True
    if outcome.facts:
        values["ansible_facts"] = outcome.facts
    result = TaskResult(values, diff=outcome.diff, exit_code=outcome.exit_code)
    result.degraded = outcome.degraded
    if module == "set_fact":
        result.learnt = dict(outcome.facts)
    else:
        result.facts = dict(outcome.facts)
    return result
