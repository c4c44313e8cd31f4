"""The command for fire drills: a scenario of the stand-in on a real host, beside its services."""

from __future__ import annotations

from invoke.context import Context
from invoke.tasks import task

from relight.commands.shared import leave, options


@task(
    iterable=["inventory"],
    help={
        "host": "host, group or pattern; needed",
        "scenario": "what goes wrong: a name of docs/scenarios.md, e.g. oom_capture",
        "speed": "seconds that a start of the stand-in takes",
        "inventory": "inventory file or folder, may be repeated; default: inventory/",
        "json": "print events as JSON Lines (docs/events.md)",
    },
)
def rehearse(
    _: Context,
    host: str = "",
    scenario: str = "",
    speed: float = 1.0,
    inventory: list[str] = [],
    json: bool = False,
) -> None:
    """Play one misfortune on a host with the stand-in engine; its services are not touched."""
    from relight.cli.rehearse import rehearse as play  # noqa: PLC0415 - start-up time
    from relight.cli.run import need_host  # noqa: PLC0415

    leave(
        lambda: play(
            options(inventory, as_json=json), need_host(host, "rehearse"), scenario, speed=speed
        )
    )


COMMANDS = (rehearse,)
