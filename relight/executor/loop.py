"""A task's loop on one host: item after item, and the result that stands for all of them."""

from __future__ import annotations

from typing import Any

from relight.core.language.playbook import Task
from relight.core.language.templating import Templar, TemplateFault
from relight.executor.flags import flag, number
from relight.executor.result import TaskResult
from relight.executor.task import Turn


def run_task(turn: Turn) -> TaskResult:
    """Return what the task came to on the host, its loop included."""
    loop = turn.task.keywords.get("loop")
    if loop is None:
        return turn.once()
    try:
        items = _items(turn, loop)
    except TemplateFault as fault:
        return turn.once(fault)
    if not items:
        return TaskResult({
            "changed": False,
            "skipped": True,
            "skipped_reason": "No items in the list",
            "results": [],
        })  # fmt: skip
    return _looped(turn, items)


def _items(turn: Turn, loop: Any) -> list[Any]:
    items = turn.templar().render(loop)
    if not isinstance(items, list):
        kind = type(items).__name__
        raise TemplateFault(f"The `loop` value must resolve to a 'list', not {kind!r}.")
    return items


def _looped(turn: Turn, items: list[Any]) -> TaskResult:
    control = turn.task.keywords.get("loop_control") or {}
    results: list[TaskResult] = []
    notify: list[str] = []
    variable = str(control.get("loop_var") or "item")
    for index, item in enumerate(items):
        turn.loop = _values(turn.templar(), control, items, index, variable)
        if index and turn.run.stop.wait(_pause(turn, control)):
            break
        result = turn.once()
        registered = turn.task.keywords.get("register")
        result.values |= _marks(turn.loop, control, variable, item)
        turn.so_far |= {**result.learnt, **result.facts}
        if registered:
            turn.so_far[registered] = result.values
        turn.ended(result, _label(turn, control, item))
        results.append(result)
        if not (result.failed or result.skipped):
            notify += turn.notified()
        if _broken(turn, control):
            break
    turn.loop = {}
    turn.so_far.pop(str(turn.task.keywords.get("register")), None)
    whole = combined(results)
    whole.notify = notify
    return whole


def _pause(turn: Turn, control: dict[str, Any]) -> float:
    return number(turn.templar(), control.get("pause"), default=0)


def _values(
    templar: Templar, control: dict[str, Any], items: list[Any], index: int, variable: str
) -> dict[str, Any]:
    """Return the variables of one item."""
    values: dict[str, Any] = {"ansible_loop_var": variable, variable: items[index]}
    if control.get("index_var"):
        values |= {"ansible_index_var": control["index_var"], control["index_var"]: index}
    if flag(templar, control.get("extended"), default=False):
        count = len(items)
        loop: dict[str, Any] = {
            "index": index + 1,
            "index0": index,
            "first": index == 0,
            "last": index + 1 == count,
            "length": count,
            "revindex": count - index,
            "revindex0": count - index - 1,
        }
        if flag(templar, control.get("extended_allitems"), default=True):
            loop["allitems"] = items
        if index + 1 < count:
            loop["nextitem"] = items[index + 1]
        if index:
            loop["previtem"] = items[index - 1]
        values["ansible_loop"] = loop
    return values


def _marks(
    loop: dict[str, Any], control: dict[str, Any], variable: str, item: Any
) -> dict[str, Any]:
    """Return what an item's result says of the loop."""
    index = control.get("index_var")
    kept = {"ansible_loop_var", "ansible_index_var", "ansible_loop", *([index] if index else [])}
    return {variable: item, **{name: value for name, value in loop.items() if name in kept}}


def _label(turn: Turn, control: dict[str, Any], item: Any) -> str:
    try:
        return str(turn.templar().render(control["label"]) if "label" in control else item)
    except TemplateFault:
        return str(item)


def _broken(turn: Turn, control: dict[str, Any]) -> bool:
    condition = control.get("break_when")
    return condition is not None and turn.templar().condition(condition)


def combined(results: list[TaskResult]) -> TaskResult:
    """Return the result of a whole loop."""
    skipped = all(result.skipped for result in results)
    failed = [result for result in results if result.failed]
    lost = [result for result in results if result.unreachable]
    values: dict[str, Any] = {
        "results": [result.values for result in results],
        "skipped": skipped,
        "changed": any(result.changed for result in results),
        "msg": "All items completed",
    }
    if failed:
        values |= {"failed": True, "msg": "One or more items failed"}
    if skipped:
        values["msg"] = "All items skipped"
    if lost:
        values |= {"unreachable": True}
    whole = TaskResult(values)
    for result in results:
        whole.learnt |= result.learnt
        whole.facts |= result.facts
        whole.included += result.included
        whole.degraded = whole.degraded or result.degraded
        whole.secret = whole.secret or result.secret
        whole.seconds += result.seconds
    whole.exit_code = max((r.exit_code for r in results if r.exit_code is not None), default=None)
    whole.ignored = all(result.ignored for result in [*failed, *lost]) and bool(failed or lost)
    return whole


def is_looped(task: Task) -> bool:
    """Return whether a task has a loop."""
    return task.keywords.get("loop") is not None
