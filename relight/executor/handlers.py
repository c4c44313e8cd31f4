"""Handlers: those that were notified run once each, in the order in which they are written."""

from __future__ import annotations

from collections.abc import Sequence

from relight.core.events import Note
from relight.core.language.playbook import Task
from relight.core.language.templating import TemplateFault
from relight.executor.hosts import Host
from relight.executor.strategy import Around, Strategy
from relight.executor.variables import task_templar


def flush(strategy: Strategy, hosts: Sequence[Host]) -> set[str]:
    """Run the notified handlers on these hosts until none is left; return who failed."""
    failed: set[str] = set()
    handlers = strategy.batch.play.handlers
    if not handlers:
        return failed
    names = _names(strategy, hosts)
    around = Around(handlers=True, shielded=strategy.run.stopped())
    while True:
        due = _due(strategy, hosts, failed, names)
        if not due:
            return failed
        for index in sorted(due):
            chosen = [host for host in due[index] if host.name not in failed and host.present]
            if chosen:
                failed |= strategy.nodes([handlers[index]], chosen, around)


def _names(strategy: Strategy, hosts: Sequence[Host]) -> list[str]:
    """Return the handlers' names, rendered with the variables that every host shares."""
    if not hosts:
        return [handler.name for handler in strategy.batch.play.handlers]
    names = []
    for handler in strategy.batch.play.handlers:
        templar = task_templar(strategy.run, strategy.batch, hosts[0], handler.inherited)
        try:
            names.append(str(templar.render(handler.name)))
        except TemplateFault:
            names.append(handler.name)
    return names


def _due(
    strategy: Strategy, hosts: Sequence[Host], failed: set[str], names: list[str]
) -> dict[int, list[Host]]:
    """Return which handlers are due on which hosts, and take the notifications back."""
    due: dict[int, list[Host]] = {}
    for host in hosts:
        if host.name in failed or not host.present:
            continue
        taken, host.notified = host.notified, []
        for notification in taken:
            found = _notified(strategy.batch.play.handlers, names, notification)
            for index in found:
                members = due.setdefault(index, [])
                if host not in members:
                    members.append(host)
            if not found:
                text = f"no handler has the name or listens to {notification!r}"
                strategy.run.settings.report(Note(level="error", host=host.name, text=text))
    return due


def _notified(handlers: Sequence[Task], names: list[str], notification: str) -> list[int]:
    """Return the handlers that a notification means: the first of that name, all that listen."""
    found = names.index(notification) if notification in names else None
    listening = [i for i, handler in enumerate(handlers) if notification in handler.listens]
    return list(dict.fromkeys([*([] if found is None else [found]), *listening]))
