"""Commands that explain: diagnose."""

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


COMMANDS = (diagnose,)
