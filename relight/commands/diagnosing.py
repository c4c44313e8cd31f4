"""Commands that explain: diagnose, explain, flags, doctor, import-command."""

from __future__ import annotations

from invoke.context import Context
from invoke.tasks import task

from relight.commands.shared import leave, options


@task(
    iterable=["inventory"],
    help={
        "log": "a log file of the engine, relight's or not; - is stdin",
        "engine": "which engine wrote it",
        "host": "read a launch's log on this host instead",
        "service": "one service of the host; default: the only one",
        "launch": "a launch by its number; default: the last",
        "inventory": "inventory file or folder, may be repeated; default: inventory/",
        "json": "print one JSON object",
    },
)
def diagnose(
    _: Context,
    log: str = "",
    engine: str = "sglang",
    host: str = "",
    service: str = "",
    launch: int = 0,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Say why a server did not start or broke: stages, verdict, evidence, remedy."""
    from relight.cli import diagnose as cli  # noqa: PLC0415 - start-up time
    from relight.errors import UsageError  # noqa: PLC0415

    chosen = options(inventory, as_json=json)

    def act() -> int:
        if log and not host:
            return cli.diagnose_file(chosen, log, engine)
        if host and not log:
            return cli.diagnose_host(chosen, host, service, launch)
        raise UsageError("diagnose reads one log: --log FILE (- is stdin) or --host HOST")

    leave(act)


_HELP = {
    "host": "one host",
    "service": "one service of the host; default: the only one",
    "inventory": "inventory file or folder, may be repeated; default: inventory/",
    "json": "print events as JSON Lines (docs/events.md)",
}


@task(iterable=["inventory"], help=_HELP | {"flag": "one flag; default: all"})
def explain(
    _: Context,
    host: str = "",
    service: str = "",
    flag: str = "",
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Show what the running server does with what was asked: got, not got and why, changed."""
    from relight.cli import explain as cli  # noqa: PLC0415 - start-up time
    from relight.cli.run import need_host  # noqa: PLC0415

    chosen = options(inventory, as_json=json)
    leave(lambda: cli.explain(chosen, need_host(host, "explain"), service, flag))


@task(
    iterable=["inventory"],
    help=_HELP | {"match": "part of a name, or a glob", "diff": "A..B: two hosts, what differs"},
)
def flags(
    _: Context,
    host: str = "",
    service: str = "",
    match: str = "",
    diff: str = "",
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """List the flags of the engine build that is installed on a host."""
    from relight.cli import explain as cli  # noqa: PLC0415

    leave(lambda: cli.flags(options(inventory, as_json=json), host, service, match, diff))


@task(iterable=["inventory"], help=_HELP)
def doctor(
    _: Context,
    host: str = "",
    service: str = "",
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Look for everything that would stand in the way of a deploy, and say what to do."""
    from relight.cli import explain as cli  # noqa: PLC0415
    from relight.cli.run import need_host  # noqa: PLC0415

    chosen = options(inventory, as_json=json)
    leave(lambda: cli.doctor(chosen, need_host(host, "doctor"), service))


@task(
    help={
        "file": "a file that holds the command; - is stdin",
        "name": "write inventory/presets/NAME.yml; default: print it",
        "engine": "whose command it is",
        "json": "print events as JSON Lines (docs/events.md)",
    }
)
def import_command(
    _: Context, file: str = "-", name: str = "", engine: str = "sglang", json: bool = False
) -> None:
    """Turn a pasted launch command, any shell quoting, into a preset."""
    from relight.cli import import_command as cli  # noqa: PLC0415

    leave(lambda: cli.import_command(options(as_json=json), name, file, engine))


COMMANDS = (diagnose, explain, flags, doctor, import_command)
