"""A whole playbook: plays, batches, sections, and the recap."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any

from relight.connections import Connection
from relight.core.address import Address
from relight.core.events import Event, Note, PlayStarted, Recap
from relight.core.language.playbook import Inherited, Origin, Play, Playbook, Task
from relight.core.language.recap import host_exit, worst
from relight.core.language.templating import Templar, TemplateFault
from relight.errors import EXIT_INTERRUPTED, UsageError
from relight.executor import kept
from relight.executor.batches import batches, ordered
from relight.executor.flags import flag
from relight.executor.handlers import flush
from relight.executor.hosts import Host
from relight.executor.interrupt import heard
from relight.executor.settings import Run, Settings
from relight.executor.strategy import Around, Strategy
from relight.executor.variables import Batch
from relight.executor.vars_files import VarsFiles
from relight.project import Project

_NOBODY: Mapping[str, Any] = {"all": [], "ungrouped": []}


def run(  # noqa: PLR0913  the options of a run
    playbook: Playbook,
    project: Project,
    *,
    limit: str | None = None,
    tags: Collection[str] = ("all",),
    skip_tags: Collection[str] = (),
    extra_vars: Mapping[str, Any] = {},
    check: bool = False,
    diff: bool = False,
    report: Callable[[Event], None],
    connect: Callable[[Address], Connection],
    start_at: str | None = None,
    forks: int = 32,
) -> Recap:
    """Run a playbook and return its recap, which was reported too.

    Raises UsageError for a pattern that means nothing. The exit code is 0, 2 (failed), 4
    (unreachable), what a module said instead of 2, or 130 when the operator interrupted.
    """
    settings = Settings(
        project, report, limit, tuple(tags) or ("all",), tuple(skip_tags), extra_vars,
        check, diff, max(1, forks), start_at,
    )  # fmt: skip
    allowed = None if limit is None else frozenset(project.hosts(limit))
    state = Run(settings, started=start_at is None)
    used: dict[str, Host] = {}
    try:
        with heard(state):
            for play in playbook.plays:
                names = _hosts(state, play, connect, allowed)
                used |= {name: state.hosts[name] for name in names}
                if _play(state, playbook, play, names) or state.stopped():
                    break
    finally:
        for host in state.hosts.values():
            host.close()
        state.workers.close()
    recap = _recap(state, used)
    report(recap)
    return recap


def _recap(state: Run, used: Mapping[str, Host]) -> Recap:
    hosts = {name: host.recap for name, host in used.items() if host.recap != type(host.recap)()}
    codes = [
        host_exit(failed=host.failed, unreachable=host.unreachable, code=host.exit_code)
        for host in used.values()
    ]
    code = EXIT_INTERRUPTED if state.stopped() else worst(codes)
    return Recap(hosts=hosts, exit_code=code)


def _hosts(
    state: Run, play: Play, connect: Callable[[Address], Connection], allowed: frozenset[str] | None
) -> list[str]:
    """Return the hosts of a play; hosts that are seen first are made."""
    project = state.settings.project
    pattern = Templar({**play.variables, **state.settings.extra_vars}).render(play.hosts)
    pattern = ":".join(pattern) if isinstance(pattern, list) else str(pattern)
    missing: list[str] = []
    names = list(project.hosts(pattern, missing))
    if pattern in ("localhost", "127.0.0.1") and not names:
        names, missing = ["localhost"], []
    for part in missing:
        text = f"no host and no group is called {part!r}: the play goes on without"
        state.settings.report(Note(level="warning", text=text))
    for name in _everybody(project, names):
        if name not in state.hosts:
            state.hosts[name] = _host(project, name, connect)
    chosen = [name for name in names if allowed is None or name in allowed]
    return ordered(chosen, play.option("order"))


def _everybody(project: Project, names: list[str]) -> list[str]:
    try:
        return list(dict.fromkeys([*project.hosts("all"), *names]))
    except UsageError:
        return names


def _host(project: Project, name: str, connect: Callable[[Address], Connection]) -> Host:
    try:
        inventory = project.variables(name)
    except (KeyError, UsageError):
        local = Address(name=name, connection="local")
        everybody = project.hosts("all", [])
        groups = project.variables(everybody[0])["groups"] if everybody else _NOBODY
        return Host(name, lambda: local, connect, {"groups": groups, "group_names": []})
    return Host(name, functools.partial(project.address, name), connect, inventory)


def _play(state: Run, playbook: Playbook, play: Play, names: list[str]) -> bool:
    """Run a play, batch after batch; return whether the whole run ends with it."""
    report = state.settings.report
    serial = Templar({**play.variables, **state.settings.extra_vars}).render(play.option("serial"))
    name = _named(state, play)
    for batch_names in batches(names, serial):
        hosts = tuple(state.hosts[name] for name in batch_names)
        for host in hosts:
            host.ended = host.dropped
        before = sum(host.failed or host.unreachable for host in hosts)
        report(PlayStarted(play=name, hosts=batch_names))
        batch = Batch(play, tuple(names), hosts, name, VarsFiles(state.settings.project, play))
        strategy = Strategy(state, batch, flush)
        _sections(strategy, playbook)
        lost = sum(host.failed or host.unreachable for host in hosts) - before
        if lost == len(hosts) or strategy.broken or state.stopped():
            return True
        if strategy.over:
            break
    return False


def _named(state: Run, play: Play) -> str:
    try:
        return str(Templar({**play.variables, **state.settings.extra_vars}).render(play.name))
    except TemplateFault:
        return play.name


def _sections(strategy: Strategy, playbook: Playbook) -> None:
    play, hosts = strategy.batch.play, strategy.batch.hosts
    forced = flag(Templar(play.variables), play.option("force_handlers"), default=False)
    if flag(Templar(play.variables), play.option("gather_facts"), default=True):
        strategy.nodes([_gathering(play)], hosts, Around())
    told = False
    for section in (play.pre_tasks, play.tasks, play.post_tasks):
        strategy.nodes(section, hosts, Around())
        ready = [h for h in hosts if h.present and (forced or not h.failed)]
        if section and not told and play.handlers:
            told = True
            kept.recall(strategy, [host for host in ready if not host.failed], playbook.path)
        if strategy.run.stopped():
            break
        _flush(strategy, ready, forced=forced)
    kept.keep(strategy, hosts, playbook.path)


def _flush(strategy: Strategy, hosts: list[Host], *, forced: bool) -> None:
    lost = [host for host in hosts if forced and host.failed]
    for host in lost:
        host.failed = False
    flush(strategy, hosts)
    for host in lost:
        host.failed = True


def _gathering(play: Play) -> Task:
    tags = Inherited().under(play.keywords)
    inherited = Inherited(
        tags=("always", *tags.tags), environment=tags.environment, options=tags.options
    )
    origin = Origin(play.origin.file, play.origin.line, play.origin.column)
    return Task("setup", {}, {"name": "Gathering Facts"}, inherited, origin)
