"""Verb `release`: render launch.sh and its lockfile, and write them where nothing runs yet."""

from __future__ import annotations

from typing import Any

from relight.core.attempt import Refused, first_recipe, refusals
from relight.core.flags import FlagValue
from relight.core.gave_up import gave_up
from relight.core.model import Frozen
from relight.core.outcome import Diff, Outcome
from relight.deploy.preflight import is_unchanged
from relight.deploy.secrets import write_release
from relight.deploy.seen import read_seen
from relight.deploy.target import Target, target_of
from relight.deploy.wanted import make_release, port_of, wanted_of
from relight.modules import Scope


class Args(Frozen):
    """`refused` and `remembered` are what preflight left out, with its reasons."""

    service: str = "main"
    seen: dict[str, Any]
    set: dict[str, FlagValue | None] = {}
    without: tuple[str, ...] = ()
    refused: dict[str, str] = {}
    remembered: tuple[Refused, ...] = ()
    retry: bool = False


_PORTS_FROM = 30000


def run(args: Args, scope: Scope) -> Outcome:
    """Write the release; `changed` is false when the host has it already, or needs none."""
    target = target_of(
        scope.project,
        scope.host,
        args.service,
        scope.open_connection(),
        scope.report,
        changes=args.set,
        without=args.without,
    )
    seen = read_seen(args.seen)
    port = port_of(target, seen) or (0 if scope.check else target.store.free_port(_above(target)))
    wanted = wanted_of(target, seen, port=port)
    current = seen.observed.release
    if current is not None and is_unchanged(target, seen, wanted, retry=args.retry):
        values = {"release": current.id, "port": current.port, "degraded": current.degraded}
        return Outcome(values=values, msg=f"{current.id} is what runs")
    refused = {
        name: reason for name, reason in args.refused.items() if name in wanted.preset.layers
    }
    history = refusals(refused, args.remembered)
    recipe = first_recipe(wanted.preset, history)
    release, launch_sh = make_release(
        target,
        wanted,
        recipe,
        known=seen.observed.releases,
        gave_up=gave_up(wanted.preset, recipe, history),
        driver=seen.facts.driver,
    )
    before = ""
    if current is not None and scope.diff:
        before = target.store.read_release_file(current.id, "launch.sh")
    written = release.id not in seen.observed.releases
    if written and not scope.check:
        written = write_release(target, wanted, release, launch_sh)
    text = launch_sh.decode()
    return Outcome(
        changed=written,
        msg=release.id,
        values={"release": release.id, "port": port, "degraded": release.degraded, "script": text},
        diff=(Diff(path=f"{args.service}/launch.sh", before=before, after=text),),
    )


def _above(target: Target) -> int:
    """Return where the search for a free port begins: above the ports of the host's services."""
    return max([_PORTS_FROM, *(one.port + 1 for one in target.spec.services.values())])
