"""Lists of tasks on a batch of hosts in lock step: blocks, rescue, always, and who drops out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from relight.core.events import TaskStarted
from relight.core.language.playbook import Block, Inherited, Node, Task, wanted
from relight.core.language.templating import Templar, TemplateFault, is_template
from relight.executor import include, meta
from relight.executor.flags import flag, number
from relight.executor.hosts import Host
from relight.executor.interrupt import tell
from relight.executor.loop import run_task
from relight.executor.result import TaskResult, failure
from relight.executor.settings import Run
from relight.executor.task import Turn
from relight.executor.together import together
from relight.executor.variables import Batch, task_templar

Hosts = Sequence[Host]
Flush = Callable[["Strategy", Hosts], set[str]]
_FOR_ALL = ("run_once", "any_errors_fatal", "ignore_errors", "throttle")
"""The keywords of a task that concern all of its hosts."""


@dataclass(frozen=True)
class Around:
    """What is around a list of tasks.

    `rescuable`: a failure here is rescued further out. `final`: nothing further out comes after a
    failure, so that the host is lost at once. `shielded`: an interrupt does not stop it (always).
    `handlers`: these are handlers.
    """

    rescuable: bool = False
    final: bool = True
    shielded: bool = False
    handlers: bool = False


@dataclass
class Strategy:
    """Runs nodes on the hosts of a batch."""

    run: Run
    batch: Batch
    flush: Flush
    broken: bool = False
    """Whether the play ends for everybody: too many failures."""
    over: bool = False
    """Whether `meta: end_play` ended the play."""
    interrupted: set[str] = field(default_factory=set)

    def nodes(self, nodes: Sequence[Node], hosts: Hosts, around: Around) -> set[str]:
        """Run nodes one after the other; return the names of the hosts that failed."""
        failed: set[str] = set()
        for node in nodes:
            active = [h for h in hosts if h.name not in failed and h.present and not h.failed]
            if not active:
                break
            if self.run.stopped() and not around.shielded:
                tell(self.run)
                self.interrupted |= {host.name for host in active}
                failed |= {host.name for host in active}
                break
            if isinstance(node, Block):
                failed |= self._block(node, active, around)
            else:
                failed |= self._task(node, active, around)
            if around.final:
                for host in active:
                    host.failed = host.failed or host.name in failed
        return failed

    def _block(self, block: Block, hosts: Hosts, around: Around) -> set[str]:
        guarded = bool(block.rescue)
        inside = replace(
            around,
            rescuable=around.rescuable or guarded,
            final=around.final and not guarded and not block.always,
        )
        failed = self.nodes(block.block, hosts, inside)
        if guarded and failed:
            rescuers = [h for h in hosts if h.name in failed and not self._lost(h)]
            stuck = {h.name for h in hosts if h.name in failed and self._lost(h)}
            outer = replace(around, final=around.final and not block.always)
            failed = stuck | self.nodes(block.rescue, rescuers, outer)
        if block.always:
            left = [host for host in hosts if host.present and not host.failed]
            shield = replace(around, shielded=True)
            failed |= self.nodes(block.always, left, shield)
        return failed

    def _lost(self, host: Host) -> bool:
        return not host.present or host.failed or host.name in self.interrupted

    def _task(self, task: Task, hosts: Hosts, around: Around) -> set[str]:
        if not self._selected(task, around):
            return set()
        if task.module == "meta":
            return self._meta(task, hosts)
        first = self._first(task, hosts[0])
        once = self._flag(first, task.option("run_once"))
        alone = once or task.module == "pause"  # as in Ansible, which pauses for all hosts at once
        chosen = list(hosts[:1]) if alone else list(hosts)
        results = self._results(task, chosen, first)
        failed = self._taken(task, chosen, results, around, once=once)
        if task.module == "include_tasks":
            failed |= self._included(task, chosen, results, around)
        lost = {host.name for host in chosen if host.unreachable}
        fatal = once or self._flag(first, task.option("any_errors_fatal"))
        if fatal and (failed or lost) and not self._flag(first, task.option("ignore_errors")):
            for host in [host for host in hosts if host.name not in failed]:
                host.dropped = True
            failed |= {host.name for host in hosts if host.name not in lost}
        return failed | self._too_many(hosts, failed if around.final else set())

    def _selected(self, task: Task, around: Around) -> bool:
        settings = self.run.settings
        if not self.run.started and task.module != "setup":
            self.run.started = settings.start_at in (None, task.name)
            if not self.run.started:
                return False
        implicit = around.handlers or (task.module == "meta" and not task.inherited.tags)
        return implicit or wanted(task.inherited.tags, settings.tags, settings.skip_tags)

    def _templar(self, task: Task, host: Host) -> Templar:
        return task_templar(self.run, self.batch, host, task.inherited)

    def _first(self, task: Task, host: Host) -> Templar:
        """Return what renders the keywords that concern all hosts: with the first one's variables.

        Where those cannot be had each host's own turn says why; where no keyword uses any, none are
        put together.
        """
        if not any(is_template(task.option(name)) for name in _FOR_ALL):
            return Templar({})
        try:
            return self._templar(task, host)
        except TemplateFault:
            return Templar({})

    def _flag(self, templar: Templar, value: Any) -> bool:
        try:
            return flag(templar, value, default=False)
        except TemplateFault:
            return False

    def _results(self, task: Task, hosts: Hosts, first: Templar) -> list[TaskResult]:
        turns = [Turn(self.run, self.batch, host, task) for host in hosts]

        def one(turn: Turn) -> TaskResult:
            self.run.settings.report(
                TaskStarted(host=turn.host.name, task=turn.name(), module=task.module)
            )
            try:
                return run_task(turn)
            except TemplateFault as fault:
                return failure(f"{task.origin}: {fault.what}")

        most = int(number(first, task.option("throttle"), default=0))
        return together(self.run, turns, one, lambda _: failure("interrupted"), most)

    def _taken(
        self, task: Task, hosts: Hosts, results: list[TaskResult], around: Around, *, once: bool
    ) -> set[str]:
        """Count, register and report the results; return the hosts that failed."""
        failed: set[str] = set()
        for host, result in zip(hosts, results, strict=True):
            turn = Turn(self.run, self.batch, host, task)
            self._learn(task, [*self.batch.hosts] if once else [host], result)
            keys = _keys(result)
            status = result.status()
            if result.failed and not result.ignored and not result.unreachable:
                failed.add(host.name)
                if around.rescuable and not self.run.stopped():
                    keys, status = ("rescued",), "rescued"
                    name = turn.name() if task.keywords.get("name") else ""
                    host.learnt |= _failure(task, result, name)
            if result.unreachable and not result.ignored:
                host.unreachable = True
            if result.exit_code is not None:
                host.exit_code = max(result.exit_code, host.exit_code or 0)
            if not (task.module == "include_tasks" and status == "ok"):
                host.count(*keys, *(["degraded"] if result.degraded else []))
            if result.changed and not result.failed and status == "changed":
                self._notify(turn, host, result)
            turn.ended(result, status=status)
        return failed

    def _learn(self, task: Task, hosts: Hosts, result: TaskResult) -> None:
        register = task.keywords.get("register")
        for host in hosts:
            if result.facts:
                host.facts = {**host.facts, **result.facts}
            learnt = {**host.learnt, **result.learnt}
            host.learnt = {**learnt, register: result.values} if register else learnt

    def _notify(self, turn: Turn, host: Host, result: TaskResult) -> None:
        for name in turn.notified() if result.notify is None else result.notify:
            if name not in host.notified:
                host.notified.append(name)

    def _too_many(self, hosts: Hosts, failed: set[str]) -> set[str]:
        """Return everybody when more hosts failed than `max_fail_percentage` allows."""
        limit = self.batch.play.option("max_fail_percentage")
        if limit is None:
            return set()
        most = number(self._play_templar(), limit, default=100)
        lost = sum(host.failed or host.name in failed for host in self.run.hosts.values())
        if lost / len(self.batch.hosts) * 100 <= most:
            return set()
        self.broken = True
        return {host.name for host in hosts}

    def _play_templar(self) -> Templar:
        return task_templar(self.run, self.batch, self.batch.hosts[0], Inherited())

    def _included(
        self, task: Task, hosts: Hosts, results: list[TaskResult], around: Around
    ) -> set[str]:
        failed: set[str] = set()
        for included, members in include.grouped(hosts, results):
            nodes = include.load(self.run, self.batch, task, included)
            if isinstance(nodes, str):
                for host in members:
                    host.count("failed")
                    turn = Turn(self.run, self.batch, host, task)
                    turn.ended(failure(f"{task.origin}: {nodes}"))
                failed |= {host.name for host in members}
                continue
            for host in members:
                host.count("ok")
            failed |= self.nodes(nodes, [h for h in members if h.name not in failed], around)
        return failed

    def _meta(self, task: Task, hosts: Hosts) -> set[str]:
        chosen = [host for host in hosts if self._holds(task, host)]
        action = str(task.args["action"])
        if action == "flush_handlers":
            return self.flush(self, chosen)
        self.over = meta.apply(action, self.batch, hosts, chosen) or self.over
        return set()

    def _holds(self, task: Task, host: Host) -> bool:
        templar = self._templar(task, host)
        return all(templar.condition(condition) for condition in task.inherited.when)


def _keys(result: TaskResult) -> tuple[str, ...]:
    if result.unreachable:
        return ("ok", "ignored") if result.ignored else ("unreachable",)
    if result.failed:
        if not result.ignored:
            return ("failed",)
        return ("ok", "ignored", "changed") if result.changed else ("ok", "ignored")
    if result.skipped:
        return ("skipped",)
    return ("ok", "changed") if result.changed else ("ok",)


def _failure(task: Task, result: TaskResult, name: str) -> dict[str, Any]:
    """Return the variables that a rescue may look at."""
    described = {"name": name, "action": task.module, "args": dict(task.args)}
    return {"ansible_failed_task": described, "ansible_failed_result": result.values}
