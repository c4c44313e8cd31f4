"""From a command line to an exit code: load, plan, execute, report; every error in plain words."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from relight.core.events import Event, Note
from relight.errors import EXIT_INTERRUPTED, EXIT_OK, InputFaults, RelightError, UsageError
from relight.project import Project
from relight.project.vault import Vault
from relight.report import open_report, tell_error

BUG = "this is a fault in relight itself; RELIGHT_DEBUG=1 shows where"


@dataclass(frozen=True)
class Options:
    """What every command takes: the folder, the inventory, extra variables, how to print."""

    root: Path
    inventory: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    as_json: bool = False
    out: IO[str] | None = None
    vault: Vault = field(default_factory=lambda: Vault(run_here))


def guarded(act: Callable[[], int]) -> int:
    """Run and return the exit code; a user's mistake never ends in a traceback."""
    try:
        return act()
    except RelightError as error:
        tell_error(_headed(error))
        return error.exit_code
    except KeyboardInterrupt:
        tell_error("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except Exception as error:
        if os.environ.get("RELIGHT_DEBUG"):
            raise
        tell_error(f"{type(error).__name__}: {error}; {BUG}")
        return 2


def load_project(options: Options, beside: tuple[Path, ...] = ()) -> Project:
    """Return the project of a folder; raises InputFaults with every fault of every file.

    `beside` are folders of playbooks outside of the project's own.
    """
    from relight.project.loader import load  # noqa: PLC0415 - start-up time

    return load(options.root, options.inventory, options.extra, options.vault, beside)


def run_here(command: str) -> str:
    """Return what a command of the operator's prints on this machine; raises OSError."""
    from relight.connections.local import open_connection  # noqa: PLC0415 - start-up time
    from relight.core.address import Address  # noqa: PLC0415

    connection = open_connection(Address(name="this machine", connection="local"))
    try:
        result = connection.run(command, timeout=60)
    except TimeoutError:
        raise OSError(0, "no answer in 60 s") from None
    finally:
        connection.close()
    if result.exit != 0:
        raise OSError(result.exit, f"exit status {result.exit}")
    return result.out


def say_with(options: Options, act: Callable[[Callable[[Event], None]], int]) -> int:
    """Run an act with a report that fits where its output goes."""
    report = open_report(
        options.out or sys.stdout, os.environ, options.vault, as_json=options.as_json
    )
    try:
        return act(report)
    except InputFaults as faults:
        if options.as_json:
            for fault in faults.faults:
                report(Note(level="error", text=str(fault)))
        raise
    except RelightError as error:
        if options.as_json:
            report(Note(level="error", text=str(error)))
        raise
    finally:
        report.close()


def end_as_interrupted() -> None:
    """Take SIGTERM and the end of the terminal as Ctrl-C: what was begun is undone on the hosts.

    A signal that is ignored (nohup) stays ignored.
    """

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, interrupt)


def play(
    options: Options,
    playbook: str,
    *,
    hosts: str,
    variables: Mapping[str, Any],
    check: bool = False,
    diff: bool = False,
) -> int:
    """Run one of the playbooks that this project has or relight ships; return the exit code."""
    from relight.connections import connect  # noqa: PLC0415 - start-up time
    from relight.executor import load, run  # noqa: PLC0415

    def act(report: Callable[[Event], None]) -> int:
        project = load_project(options)
        project.hosts(hosts)
        book = load(project, project.playbook(playbook))
        recap = run(
            book,
            project,
            limit=hosts,
            extra_vars=dict(variables),
            check=check,
            diff=diff,
            report=report,
            connect=connect,
        )
        return recap.exit_code

    end_as_interrupted()
    return say_with(options, act)


def need_host(host: str, command: str) -> str:
    """Return a host pattern; raises UsageError when none was given: nothing runs everywhere."""
    if not host:
        raise UsageError(f"{command} needs --host: a host, a group or a pattern; `all` means all")
    return host


def settings(words: tuple[str, ...]) -> dict[str, Any]:
    """Return `--set flag=value` words as a mapping; values are read as YAML scalars.

    `flag=` takes a flag away. Raises UsageError for a word without `=` or a wrong flag name.
    """
    from relight.core.flags import flag_name  # noqa: PLC0415 - start-up time
    from relight.project.scalars import plain  # noqa: PLC0415

    result: dict[str, Any] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator:
            raise UsageError(f"--set {word}: write flag=value, or flag=true for a switch")
        try:
            result[flag_name(name.strip())] = None if value == "" else plain(value)[0]
        except ValueError as error:
            raise UsageError(f"--set {word}: {error}") from None
    return result


def _headed(error: RelightError) -> str:
    if isinstance(error, InputFaults) and len(error.faults) > 1:
        return f"{error}\n{len(error.faults)} faults; nothing was sent to any host"
    return str(error)
