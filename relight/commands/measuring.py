"""Commands about speed: bench, fit, ceiling."""

from __future__ import annotations

from invoke.context import Context
from invoke.tasks import task

from relight.commands.shared import leave, options

_HELP = {
    "host": "one host",
    "service": "one service of the host; default: the only one",
    "inventory": "inventory file or folder, may be repeated; default: inventory/",
    "json": "print events as JSON Lines (docs/events.md)",
}
_FACTS = {"facts": "a file of facts instead of a host (docs/examples/ct129-facts.json)"}


@task(
    iterable=["inventory"],
    help=_HELP
    | {
        "compare": "A..B: judge release B's stored runs against A's",
        "history": "stored benchmarks over releases, as a table and a plot",
    },
)
def bench(
    _: Context,
    host: str = "",
    service: str = "",
    compare: str = "",
    history: bool = False,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Measure what serves, and judge it against the known-good's own runs."""
    from relight.cli import bench as cli  # noqa: PLC0415 - start-up time
    from relight.cli.run import need_host, play  # noqa: PLC0415

    chosen = options(inventory, as_json=json)

    def act() -> int:
        name = need_host(host, "bench")
        if compare:
            return cli.compare(chosen, name, service, compare)
        if history:
            return cli.show_history(chosen, name, service)
        return play(chosen, "benchmark.yml", hosts=name, variables={"only": service})

    leave(act)


@task(iterable=["inventory"], help=_HELP | _FACTS)
def fit(
    _: Context,
    host: str = "",
    service: str = "",
    facts: str = "",
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Say whether it fits: KV tokens, running requests, and which number limits them."""
    from relight.cli import bench as cli  # noqa: PLC0415
    from relight.cli.run import need_host  # noqa: PLC0415

    chosen = options(inventory, as_json=json)
    leave(lambda: cli.show_fit(chosen, host if facts else need_host(host, "fit"), service, facts))


@task(iterable=["inventory"], help=_HELP | _FACTS)
def ceiling(
    _: Context,
    host: str = "",
    service: str = "",
    facts: str = "",
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Say how fast this host can decode at most, the share reached, and what can help."""
    from relight.cli import bench as cli  # noqa: PLC0415
    from relight.cli.run import need_host  # noqa: PLC0415

    chosen = options(inventory, as_json=json)
    leave(
        lambda: cli.show_ceiling(
            chosen, host if facts else need_host(host, "ceiling"), service, facts
        )
    )


COMMANDS = (bench, fit, ceiling)
