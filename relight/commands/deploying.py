"""Commands that change a host: deploy, plan, rollback, restart, stop, adopt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from invoke.context import Context
from invoke.tasks import task

from relight.commands.shared import leave, options

_HELP = {
    "host": "host, group or pattern (a:b, &c, !d, globs); needed",
    "service": "one service of the host; default: all of them",
    "inventory": "inventory file or folder, may be repeated; default: inventory/",
    "json": "print events as JSON Lines (docs/events.md)",
    "wait": "seconds to wait while another deploy holds the service",
    "set": "flag=value for this deploy alone, may be repeated; flag= takes it away",
    "without": "a layer to leave out, may be repeated",
    "check": "change nothing, say what would be done",
    "diff": "show what changes in launch.sh",
    "strict": "a degraded server is a failure",
    "benchmark": "--no-benchmark: promote on readiness alone",
    "preflight": "--no-preflight: skip the engine's own argument checks",
    "retry_layers": "try again what this host's engine build rejected before",
    "pid": "the server's process; default: who listens on the service's port",
    "to": "a release by its name (inv releases); default: the known-good",
}


def _help(*more: str) -> dict[str, str]:
    """Return the help of the options that every command here has, and of some more."""
    return {name: _HELP[name] for name in ("host", "service", "inventory", "json", *more)}


def _with(
    variables: Callable[[], dict[str, Any]],
    playbook: str,
    host: str,
    inventory: list[str],
    *,
    as_json: bool,
    check: bool,
    diff: bool,
) -> None:
    """Read the options inside the guard, so that a wrong one ends in words."""
    from relight.cli.run import need_host, play  # noqa: PLC0415 - start-up time

    leave(
        lambda: play(
            options(inventory, as_json=as_json),
            playbook,
            hosts=need_host(host, playbook.removesuffix(".yml")),
            variables=variables(),
            check=check,
            diff=diff,
        )
    )


def _deploy_variables(
    service: str, changes: list[str], without: list[str], **more: Any
) -> dict[str, Any]:
    from relight.cli.run import settings  # noqa: PLC0415 - start-up time

    chosen = {"only": service, "changes": settings(tuple(changes)), "left_out": list(without)}
    return chosen | more


@task(
    iterable=["set_", "without", "inventory"],
    help=_help(
        "set",
        "without",
        "check",
        "diff",
        "strict",
        "benchmark",
        "preflight",
        "retry_layers",
        "wait",
    ),
)
def deploy(
    _: Context,
    host: str = "",
    service: str = "",
    set_: list[str] = [],
    without: list[str] = [],
    check: bool = False,
    diff: bool = False,
    strict: bool = False,
    benchmark: bool = True,
    preflight: bool = True,
    retry_layers: bool = False,
    wait: int = 0,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Put what the inventory says into service, prove it, keep the way back."""

    def variables() -> dict[str, Any]:
        return _deploy_variables(
            service,
            set_,
            without,
            strict=strict,
            measure=benchmark,
            checks=preflight,
            retry=retry_layers,
            wait=wait,
        )

    _with(variables, "deploy.yml", host, inventory, as_json=json, check=check, diff=diff)


@task(iterable=["set_", "without", "inventory"], help=_help("set", "without"))
def plan(
    _: Context,
    host: str = "",
    service: str = "",
    set_: list[str] = [],
    without: list[str] = [],
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Show what a deploy would do, and why; changes nothing (`deploy --check --diff`)."""

    def variables() -> dict[str, Any]:
        return _deploy_variables(service, set_, without)

    _with(variables, "deploy.yml", host, inventory, as_json=json, check=True, diff=True)


@task(iterable=["inventory"], help=_help("to", "check", "wait"))
def rollback(
    _: Context,
    host: str = "",
    service: str = "",
    to: str = "",
    check: bool = False,
    wait: int = 0,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Return to stored bytes: the known-good, or another release."""
    chosen = {"only": service, "to": to, "wait": wait}
    _with(lambda: chosen, "rollback.yml", host, inventory, as_json=json, check=check, diff=False)


@task(iterable=["inventory"], help=_help("wait"))
def restart(
    _: Context,
    host: str = "",
    service: str = "",
    wait: int = 0,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Start the known-good again, the same bytes, and prove it."""
    chosen = {"only": service, "wait": wait}
    _with(lambda: chosen, "restart.yml", host, inventory, as_json=json, check=False, diff=False)


@task(iterable=["inventory"], help=_help("wait"))
def stop(
    _: Context,
    host: str = "",
    service: str = "",
    wait: int = 0,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Take a service down and keep it down; `restart` brings it back."""
    chosen = {"only": service, "wait": wait}
    _with(lambda: chosen, "stop.yml", host, inventory, as_json=json, check=False, diff=False)


@task(iterable=["inventory"], help=_help("pid", "check", "wait"))
def adopt(
    _: Context,
    host: str = "",
    service: str = "",
    pid: int = 0,
    check: bool = False,
    wait: int = 0,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Make a server that runs unmanaged the known-good release; it is not restarted."""
    chosen = {"only": service, "pid": pid, "wait": wait}
    _with(lambda: chosen, "adopt.yml", host, inventory, as_json=json, check=check, diff=False)


COMMANDS = (deploy, plan, rollback, restart, stop, adopt)
