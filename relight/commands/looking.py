"""Commands that only look: status, releases, logs, inventory."""

from __future__ import annotations

from invoke.context import Context
from invoke.tasks import task

from relight.commands.shared import leave, options

_HELP = {
    "host": "host, group or pattern; default: all hosts where that makes sense",
    "inventory": "inventory file or folder, may be repeated; default: inventory/",
    "json": "print events as JSON Lines (docs/events.md)",
}
_SERVICE = {"service": "one service of the host; default: the only one"}


@task(iterable=["inventory"], help=_HELP)
def status(
    _: Context,
    host: str = "all",
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Show one line a service: release, known-good or not, since when, tok/s, what is wrong."""
    from relight.cli import look  # noqa: PLC0415 - start-up time

    leave(lambda: look.status(options(inventory, as_json=json), host))


@task(iterable=["inventory"], help=_HELP | _SERVICE)
def releases(
    _: Context,
    host: str = "",
    service: str = "",
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """List the stored releases of a service, newest first."""
    from relight.cli import look  # noqa: PLC0415
    from relight.cli.run import need_host  # noqa: PLC0415

    leave(
        lambda: look.releases(
            options(inventory, as_json=json), need_host(host, "releases"), service
        )
    )


@task(
    iterable=["inventory"],
    help=_HELP
    | _SERVICE
    | {"launch": "a launch by its number; default: the last", "lines": "how many"},
)
def logs(
    _: Context,
    host: str = "",
    service: str = "",
    launch: int = 0,
    lines: int = 100,
    follow: bool = False,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Print the end of a server's log; `--follow` goes on until it ends."""
    from relight.cli import look  # noqa: PLC0415
    from relight.cli.run import need_host  # noqa: PLC0415

    leave(
        lambda: look.logs(
            options(inventory, as_json=json),
            need_host(host, "logs"),
            service,
            launch=launch,
            lines=lines,
            follow=follow,
        )
    )


@task(iterable=["inventory"], help=_HELP)
def inventory(
    _: Context,
    host: str = "all",
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Show what a host resolves to, and where each value comes from."""
    from relight.cli import look  # noqa: PLC0415

    leave(lambda: look.inventory(options(inventory, as_json=json), host))


COMMANDS = (status, releases, logs, inventory)
