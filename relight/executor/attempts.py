"""A module run until it is good: `until`, `retries`, `delay`, `changed_when`, `failed_when`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from relight.core.language.playbook import Task
from relight.core.language.templating import Templar, TemplateFault
from relight.executor.flags import number
from relight.executor.result import TaskResult

Renew = Callable[[Mapping[str, Any]], Templar]
"""Returns the task's templar with some more values, those of this moment."""


@dataclass(frozen=True)
class Attempts:
    """How often a task is tried: `tries` in all, `delay` seconds apart."""

    tries: int
    delay: float


def attempts(task: Task, templar: Templar) -> Attempts:
    """Return how often a task is tried; `retries: N` makes N + 1 tries. Raises `TemplateFault`."""
    retries = task.keywords.get("retries")
    extra = 3.0 if task.keywords.get("until") is not None else 0.0
    if retries is not None:
        extra = max(0.0, number(templar, retries, default=3))
    delay = number(templar, task.keywords.get("delay"), default=5)
    return Attempts(1 + int(extra), 1.0 if delay < 0 else delay)


def tried(
    task: Task,
    plan: Attempts,
    once: Callable[[], TaskResult],
    renew: Renew,
    *,
    stop: Callable[[float], bool],
) -> TaskResult:
    """Return the result of the last try; `stop` waits, and says whether to give up."""
    if plan.tries == 1:
        result = once()
        judged(task, result, renew)
        return result
    from tenacity import RetryError, Retrying, retry_if_result, stop_after_attempt, wait_fixed  # noqa: PLC0415  start-up time

    count = 0

    def one() -> tuple[TaskResult, bool]:
        nonlocal count
        count += 1
        result = once()
        result.values["attempts"] = count
        judged(task, result, renew)
        return result, result.unreachable or _good(task, result, renew)

    def again(ended: tuple[TaskResult, bool]) -> bool:
        return not ended[1] and not stop(0)

    retrying = Retrying(
        stop=stop_after_attempt(plan.tries),
        wait=wait_fixed(plan.delay),
        retry=retry_if_result(again),
        sleep=lambda seconds: (stop(seconds), None)[1],
    )
    try:
        result, good = retrying(one)
    except RetryError as error:
        result, good = error.last_attempt.result()
    if not good:
        result.values["attempts"] = plan.tries - 1
        result.values["failed"] = True
        result.values.setdefault("msg", "the condition of `until` was not met in time")
    return result


def _good(task: Task, result: TaskResult, renew: Renew) -> bool:
    until = task.keywords.get("until")
    if until is None or until == []:
        return not result.failed
    try:
        return _templar(task, result, renew).condition(until)
    except TemplateFault as fault:
        result.values.update({"failed": True, "msg": f"until: {fault.what}"})
        return True


def _templar(task: Task, result: TaskResult, renew: Renew) -> Templar:
    registered = task.keywords.get("register")
    values = {**result.learnt, **result.facts}
    return renew({**values, **({registered: result.values} if registered else {})})


def judged(task: Task, result: TaskResult, renew: Renew) -> None:
    """Set `failed` and `changed` as the task's own conditions say, unless it was skipped."""
    values = result.values
    values.setdefault("failed", values.get("rc", 0) not in (0, "0"))
    values.setdefault("changed", False)
    if "skipped" in values or result.unreachable:
        return
    name = "changed"
    try:
        changed_when = task.keywords.get("changed_when")
        if changed_when is not None and changed_when != []:
            values["changed"] = _templar(task, result, renew).condition(changed_when)
        name = "failed"
        failed_when = task.keywords.get("failed_when")
        if failed_when is not None and failed_when != []:
            failed = _templar(task, result, renew).condition(failed_when)
            values["failed"] = values["failed_when_result"] = failed
    except TemplateFault as fault:
        values["failed"] = True
        values[f"{name}_when_result"] = fault.what
        values.setdefault("msg", f"{name}_when: {fault.what}")
