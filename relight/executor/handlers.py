"""Handlers: those that were notified run once each, in the order in which they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relight.core.events import Note
from relight.core.language.playbook import Task
from relight.core.language.templating import TemplateFault
from relight.executor.hosts import Host
from relight.executor.strategy import Around, Strategy
from relight.executor.variables import task_templar

Due = dict[int, dict[str, str]]
"""The handlers that are due, by their places: host names, each with the word that notified it."""


def flush(strategy: Strategy, hosts: Sequence[Host]) -> set[str]:
    """Run the notified handlers on these hosts, once through the list; return who failed.

    As in Ansible a handler that another one notifies runs in the same pass where it is written
    after that one, else at the next flush. What a failed host did not get to stays notified.
    """
    failed: set[str] = set()
    handlers = strategy.batch.play.handlers
    if not handlers:
        return failed
    names = _names(strategy, hosts)
    around = Around(handlers=True, shielded=strategy.run.stopped())
    due: Due = {}
    _take(strategy, hosts, names, due)
    for index, handler in enumerate(handlers):
        called = due.pop(index, {})
        chosen = [h for h in hosts if h.name in called and h.name not in failed and h.present]
        if chosen:
            failed |= strategy.nodes([handler], chosen, around)
            _take(strategy, chosen, names, due)
        _give_back([host for host in hosts if host not in chosen], called)
    for called in due.values():
        _give_back(hosts, called)
    return failed


def _give_back(hosts: Sequence[Host], called: Mapping[str, str]) -> None:
    for host in hosts:
        if host.name in called and called[host.name] not in host.notified:
            host.notified.append(called[host.name])


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


def _take(strategy: Strategy, hosts: Sequence[Host], names: list[str], due: Due) -> None:
    """Add what these hosts notified to what is due, and take the notifications back."""
    for host in hosts:
        if not host.present:
            continue
        taken, host.notified = host.notified, []
        for notification in taken:
            found = _notified(strategy.batch.play.handlers, names, notification)
            for index in found:
                due.setdefault(index, {}).setdefault(host.name, notification)
            if not found:
                text = f"no handler has the name or listens to {notification!r}"
                strategy.run.settings.report(Note(level="error", host=host.name, text=text))


def _notified(handlers: Sequence[Task], names: list[str], notification: str) -> list[int]:
    """Return the handlers that a notification means: the first of that name, all that listen."""
    found = names.index(notification) if notification in names else None
    listening = [i for i, handler in enumerate(handlers) if notification in handler.listens]
    return list(dict.fromkeys([*([] if found is None else [found]), *listening]))
