"""`inv rehearse`: play one scenario on hosts beside their services, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable

from relight.cli.run import Options, end_as_interrupted, load_project, say_with
from relight.connections import connect
from relight.core.events import Event
from relight.deploy.rehearsal import Rehearsal, plays
from relight.executor import load, run


def rehearse(options: Options, hosts: str, scenario: str, *, speed: float) -> int:
    """Play a scenario; return the exit code that the deploy which met it ended in."""

    def act(report: Callable[[Event], None]) -> int:
        drill = Rehearsal(load_project(options), plays(scenario), speed)
        for host in drill.hosts(hosts):
            drill.spec(host)
        book = load(drill, drill.playbook("rehearse.yml"))
        return run(book, drill, limit=hosts, report=report, connect=connect).exit_code

    end_as_interrupted()
    return say_with(options, act)
