"""Verb `switch`: from what runs to what is wanted, under lock and dead-man, until it is proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relight.connections.anew import Anew
from relight.core.attempt import Refused
from relight.core.desired import Wanted
from relight.core.duration import spell
from relight.core.flags import FlagValue
from relight.core.gave_up import reason_of
from relight.core.model import Frozen
from relight.core.observed import Observed
from relight.core.outcome import Outcome
from relight.core.release import Release
from relight.core.startup import Ending
from relight.core.time_left import downtime
from relight.deploy.adopt import adopt, left_over
from relight.deploy.effective import keep_effective
from relight.deploy.look import Seen
from relight.deploy.preflight import is_unchanged
from relight.deploy.proof import client, healthy
from relight.deploy.secrets import new_values
from relight.deploy.seen import read_seen
from relight.deploy.session import LEASE, take_lock_and_look
from relight.deploy.starts import past_starts
from relight.deploy.switch import Switch
from relight.deploy.target import Target, target_of
from relight.deploy.wanted import wanted_of
from relight.deploy.watch import Watch
from relight.deploy.way_back import no_way_back, say_broken
from relight.errors import Interrupted, RelightError, Unreachable
from relight.modules import Scope


class Args(Frozen):
    """`strict` refuses a degraded server; `wait` for another deploy and `lease` are in seconds.

    `weights_mib` is what preflight found that each GPU needs room for at the least; 0: not known.
    """

    service: str = "main"
    seen: dict[str, Any]
    port: int
    set: dict[str, FlagValue | None] = {}
    without: tuple[str, ...] = ()
    refused: dict[str, str] = {}
    remembered: tuple[Refused, ...] = ()
    retry: bool = False
    strict: bool = False
    wait: float = 0.0
    lease: int = LEASE
    weights_mib: float = 0.0


def run(args: Args, scope: Scope) -> Outcome:
    """Switch; unchanged when what is wanted runs and answers. Registers the fence of its lock."""
    target = target_of(
        scope.project,
        scope.host,
        args.service,
        scope.open_connection(),
        scope.report,
        changes=args.set,
        without=args.without,
        stopped=scope.stopped,
    )
    seen = read_seen(args.seen)
    wanted = wanted_of(target, seen, port=args.port)
    current = seen.observed.release
    if current is not None and is_unchanged(target, seen, wanted, retry=args.retry):
        with client(target, current) as http:
            wrong = healthy(http, target, current)
        if wrong is None:
            return Outcome(
                msg=f"{current.id} serves and answers",
                values={"release": current.id, "degraded": current.degraded},
            )
        target.say(f"what runs does not answer ({wrong.summary}): it is relit", "warning")
        say_broken(target, no_way_back(target, seen.observed))
    if scope.check:
        return Outcome(changed=True, msg=_forecast(target, wanted, seen.observed.state))
    why = f"deploy {wanted.preset_name}"
    fence, observed = take_lock_and_look(
        target, why, port=args.port, wait=args.wait, lease=args.lease
    )
    values: dict[str, Any] = {"fence": fence, "known_good": seen.observed.known_good}
    try:
        return _launch(args, target, wanted, replace(seen, observed=observed), values, scope.anew())
    except Unreachable as lost:
        why = str(lost).removeprefix(f"{lost.host}: unreachable: ")
        by_itself = f"it returns to its known-good by itself within {args.lease} s"
        raise Unreachable(lost.host, f"{why}; {by_itself}") from lost
    except RelightError as error:
        # The lock is held: whoever undoes this needs the fence, so it must be registered.
        code = error.exit_code if isinstance(error, Interrupted) else None
        return Outcome(failed=True, msg=str(error), values=values, exit_code=code)


def _launch(
    args: Args,
    target: Target,
    wanted: Wanted,
    seen: Seen,
    values: dict[str, Any],
    anew: Anew,
) -> Outcome:
    """Run the ladder under the lock; `values` is registered whatever happens."""
    observed = seen.observed
    left = left_over(wanted, observed)
    if left is not None and new_values(target, wanted, left.id):
        left = None
    watch = adopt(target, values["fence"], left, observed) if left is not None else None
    if left is not None and watch is not None:
        _keep_effect(target, wanted, seen, watch, observed)
        values |= {"release": left.id, "degraded": left.degraded}
        msg = f"{left.id} was running unconfirmed and is ready; it was not started anew"
        return Outcome(changed=True, degraded=left.degraded, msg=msg, values=values)
    switch = Switch(
        target=target,
        wanted=wanted,
        fence=values["fence"],
        observed=observed,
        facts=seen.facts,
        refused=args.refused,
        remembered=args.remembered,
        weights_mib=args.weights_mib,
        anew=anew,
    )
    ready = switch.run()
    values["attempts"] = sum(attempt.launched for attempt in switch.attempts)
    values["downtime"] = round(switch.downtime, 1)
    if not ready:
        why = reason_of(switch.diagnosis)
        return Outcome(
            failed=True, msg=f"no launch became ready: {why} ({switch.reason})", values=values
        )
    release = switch.release
    if release is None:
        raise RuntimeError("a ready switch has a release")
    values |= {"release": release.id, "degraded": release.degraded}
    if release.degraded and args.strict:
        return Outcome(failed=True, msg=f"degraded, and --strict: {_given(release)}", values=values)
    how = f"degraded: {_given(release)}" if release.degraded else "ready"
    return Outcome(
        changed=True,
        degraded=release.degraded,
        msg=f"{release.id} {how}, {spell(switch.downtime)} without a server",
        values=values,
    )


def _keep_effect(
    target: Target, wanted: Wanted, seen: Seen, watch: Watch, before: Observed
) -> None:
    reading = watch.reader.reading(Ending(state="running"))
    launch, former = watch.launch, before.known_good
    keep_effective(target, wanted, watch.release, launch, reading, seen.facts, former)


def _given(release: Release) -> str:
    return "; ".join(
        f"{'with' if one.reason.startswith('set: ') else 'without'} {one.what} ({one.reason})"
        for one in release.gave_up
    )


def _forecast(target: Target, wanted: Wanted, state: str) -> str:
    readiness = target.preset.readiness
    worst = spell(min(target.preset.max_downtime, readiness.within * target.preset.attempts))
    stop = "stop the running server, then " if state == "running" else ""
    past = past_starts(target, wanted.preset_name, wanted.preset.model)
    usual = downtime(past)
    if usual is None:
        return f"would {stop}launch; down at worst {worst} (no start of it is known here)"
    starts = "the last start" if len(past) == 1 else f"the last {len(past)} starts"
    return f"would {stop}launch; down about {spell(usual)} ({starts} here), at worst {worst}"
