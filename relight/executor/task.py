"""One task on one host: its condition, its loop, its tries."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relight.core.events import DiffShown, Note, TaskEnded
from relight.core.language.playbook import Task
from relight.core.language.templating import Templar, TemplateFault, is_template
from relight.executor.act import act, prepare
from relight.executor.attempts import attempts, tried
from relight.executor.flags import flag, number
from relight.executor.hosts import Host
from relight.executor.result import Included, TaskResult, failure
from relight.executor.settings import Run
from relight.executor.variables import Batch, task_templar

CENSORED = "the output has been hidden due to the fact that 'no_log: true' was specified"
_HIDDEN = "Diff output has been hidden because 'no_log: true' was specified for this result"


@dataclass
class Turn:
    """A task's turn on one host. `loop` holds the values of the loop's item of this moment."""

    run: Run
    batch: Batch
    host: Host
    task: Task
    loop: dict[str, Any] = field(default_factory=dict)
    so_far: dict[str, Any] = field(default_factory=dict)
    """What earlier items of the loop registered and set."""

    def templar(self, extra: Mapping[str, Any] = {}) -> Templar:
        """Return what renders the task now."""
        more = {**self.so_far, **extra}
        return task_templar(self.run, self.batch, self.host, self.task.inherited, self.loop, more)

    def once(self, loop_fault: TemplateFault | None = None) -> TaskResult:
        """Run the task without its loop, and say whether a failure is ignored."""
        begun = time.monotonic()
        templar = self.templar()
        try:
            result = self._once(templar, loop_fault)
        except TemplateFault as fault:
            result = failure(_place(self.task, fault))
        except ValueError as error:
            result = failure(str(error))
        result.seconds = time.monotonic() - begun
        result.ignored = self._ignored(templar, result)
        result.secret = self._flag(templar, "no_log")
        if result.secret:
            _hide(result.values.get("diff"))
        return result

    def _once(self, templar: Templar, loop_fault: TemplateFault | None) -> TaskResult:
        skipped = self._skipped(templar, loop_fault)
        if skipped is not None:
            return skipped
        if self.task.module == "include_tasks":
            return self._include(templar)
        timeout = number(templar, self.task.option("timeout"), default=0)
        ready = prepare(self.run, self.batch, self.host, self.task, templar, timeout)
        plan = attempts(self.task, templar)
        result = tried(
            self.task,
            plan,
            lambda: act(self.host, ready, timeout),
            self.templar,
            stop=self.run.stop.wait,
        )
        if ready.scope.diff:
            self._show(result)
        return result

    def _skipped(self, templar: Templar, loop_fault: TemplateFault | None) -> TaskResult | None:
        for condition in self.task.inherited.when:
            parts = condition if isinstance(condition, list) else [condition]
            for part in parts:
                try:
                    holds = templar.condition(part)
                except TemplateFault as fault:
                    raise (loop_fault or _when(fault)) from None
                if not holds:
                    return TaskResult({
                        "changed": False,
                        "skipped": True,
                        "skip_reason": "Conditional result was False",
                        "false_condition": part,
                    })  # fmt: skip
        if loop_fault is not None:
            raise loop_fault
        return None

    def _include(self, templar: Templar) -> TaskResult:
        file = templar.render(self.task.args["file"])
        apply = self.task.args.get("apply") or {}
        included = Included(str(file), dict(self.loop), apply)
        values = {"changed": False, "include": str(file), "include_args": {}}
        return TaskResult(values, included=[included])

    def _flag(self, templar: Templar, name: str) -> bool:
        try:
            return flag(templar, self.task.option(name), default=False)
        except TemplateFault:
            return name == "no_log"

    def _ignored(self, templar: Templar, result: TaskResult) -> bool:
        if result.unreachable:
            return self._flag(templar, "ignore_unreachable")
        return result.failed and self._flag(templar, "ignore_errors")

    def _show(self, result: TaskResult) -> None:
        if self._flag(self.templar(), "no_log"):
            return
        from relight.executor.diffs import unified  # noqa: PLC0415  difflib: only with --diff

        for diff in result.diff:
            self.run.settings.report(
                DiffShown(host=self.host.name, path=diff.path, text=unified(diff))
            )

    def notified(self) -> list[str]:
        """Return what the task notifies, rendered; a name that cannot be is told."""
        given = self.task.keywords.get("notify")
        if given is None:
            return []
        try:
            names = self.templar().render(given)
        except TemplateFault as fault:
            self.run.settings.report(Note(level="error", host=self.host.name, text=fault.what))
            return []
        listed = names if isinstance(names, list) else [names]
        return [str(name) for name in listed if name is not None]

    def name(self) -> str:
        """Return the task's name, rendered as far as it can be."""
        if not is_template(self.task.name):
            return self.task.name
        try:
            return str(self.templar().render(self.task.name))
        except TemplateFault:
            return self.task.name

    def ended(self, result: TaskResult, item: str | None = None, status: Any = None) -> None:
        """Report how the task, or one item of its loop, ended."""
        hidden = result.secret
        self.run.settings.report(
            TaskEnded(
                host=self.host.name,
                task=self.name(),
                module=self.task.module,
                status=status or result.status(),
                seconds=round(result.seconds, 3),
                msg=CENSORED if hidden else result.message,
                item="(censored)" if hidden and item is not None else item,
                values={"censored": CENSORED} if hidden else result.values,
            )
        )


def _hide(diff: Any) -> None:
    """Take the contents of a file out of a registered difference."""
    for shown in diff if isinstance(diff, list) else []:
        shown["before"], shown["after"] = "", f" [[ {_HIDDEN} ]]\n"


def _when(fault: TemplateFault) -> TemplateFault:
    return TemplateFault(f"when: {fault.what}", name=fault.name, undefined=fault.undefined)


def _place(task: Task, fault: TemplateFault) -> str:
    where = ".".join(str(key) for key in fault.path)
    return f"{task.origin}: {where}: {fault.what}" if where else f"{task.origin}: {fault.what}"
