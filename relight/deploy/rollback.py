"""Return to stored bytes, and prove that they serve; renders nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from relight.core.attempt import Ready
from relight.core.gave_up import reason_of
from relight.core.observed import Observed, read_release
from relight.core.release import Release
from relight.deploy.proof import client, healthy
from relight.deploy.secrets import kept_files, told_others
from relight.deploy.starts import keep_start, past_starts
from relight.deploy.target import Target
from relight.deploy.watch import Watch
from relight.errors import EXIT_DARK, EXIT_OK, EXIT_ROLLED_BACK, HostError

_DRAIN = 5.0


@dataclass(frozen=True)
class CameTo:
    """How a rollback ended: which release, whether it serves, whether anything was done.

    `missed` says that it is not the release that was asked for.
    """

    release: str
    serves: bool
    changed: bool
    message: str
    missed: bool = False

    def exit_code(self, *, asked: bool) -> int:
        """Return the exit code; a rollback that the operator asked for and got is a success."""
        if not self.serves:
            return EXIT_DARK
        return EXIT_OK if asked and not self.missed else EXIT_ROLLED_BACK


def roll_back(target: Target, fence: int, *, to: str, why: str) -> CameTo:
    """Stop what runs, start the stored release, watch it until ready, make it the known-good.

    Raises HostError when there is no such release.
    """
    store = target.store
    observed = store.status(target.service.port)
    back = to or observed.known_good or ""
    if not back:
        return _nothing_to_return_to(target, fence, observed)
    if back not in observed.releases:
        there = ", ".join(observed.releases) or "none"
        raise HostError(target.host, f"there is no release {back}", f"releases here: {there}")
    release = read_release(store.read_release_file(back, "release.json"))
    if release is None:
        raise HostError(target.host, f"release.json of {back} cannot be read")
    kept = kept_files(target)
    running = observed.state == "running" and not observed.stopping
    if observed.current == back and running and _answers(target, release):
        store.promote(fence, back)
        store.disarm(fence)
        before = None if to else observed.known_good_before
        hint = f"; the known-good before it: rollback --to {before}" if before else ""
        return CameTo(back, serves=True, changed=False, message=f"{back} serves already{hint}")
    # The watch itself bounds this start: while it runs, a dead controller still leaves a dead-man.
    limits = target.preset.readiness
    # The last resort is given the longer of both times: giving up on it helps nobody.
    within = max(release.within, limits.within)
    past = past_starts(target, release.preset, release.model)
    store.arm(fence, _DRAIN + within + 120)
    others = told_others(kept, observed.release, release)
    if others:
        target.say(others, "warning")
    launch, _pid = store.rollback(fence, target.preset.drain if to else _DRAIN, back, why)
    readiness = limits.model_copy(update={"within": within, "settle": min(2.0, limits.settle)})
    target.say(f"launch {launch}: {back}, stored bytes")
    watch = Watch(target, release, launch, fence, 1, readiness, past=past)
    verdict = watch.run()
    if isinstance(verdict, Ready):
        walked = watch.pace.segments(time.monotonic())
        store.promote(fence, back)
        store.disarm(fence)
        keep_start(target, release, walked)
        return CameTo(back, serves=True, changed=True, message=f"rolled back to {back}; it serves")
    wrong = f"{back} was started and does not serve: {reason_of(verdict.diagnosis)}"
    if observed.known_good not in (None, back):
        target.say(wrong, "warning")
        came = roll_back(target, fence, to="", why=f"{back} does not serve")
        return replace(came, missed=True, message=f"{wrong}; {came.message}")
    store.disarm(fence)
    return CameTo(back, serves=False, changed=True, message=f"DARK: {wrong}")


def would_bring(target: Target, observed: Observed, back: str) -> str:
    """Return words for what a rollback would bring back beside the release: secrets of then."""
    if back not in observed.releases:
        return ""
    release = read_release(target.store.read_release_file(back, "release.json"))
    return "" if release is None else told_others(kept_files(target), observed.release, release)


def _nothing_to_return_to(target: Target, fence: int, observed: Observed) -> CameTo:
    """A first deploy that failed: what it left is stopped, since it was never proved."""
    if observed.pids:
        target.store.stop(fence, _DRAIN)
    target.store.disarm(fence)
    return CameTo(
        "",
        serves=False,
        changed=bool(observed.pids),
        message="there is no known-good to return to: nothing serves",
    )


def _answers(target: Target, release: Release) -> bool:
    with client(target, release) as http:
        return healthy(http, target, release) is None
