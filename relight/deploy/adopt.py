"""A server that an interrupted deploy left running is proved instead of started anew."""

from __future__ import annotations

from relight.core.attempt import Ready
from relight.core.desired import Wanted
from relight.core.observed import Observed
from relight.core.release import Release
from relight.deploy.target import Target
from relight.deploy.watch import Watch

_ARM_MARGIN = 120.0


def left_over(wanted: Wanted, observed: Observed) -> Release | None:
    """Return the release that runs here unconfirmed, when it is what is wanted."""
    release = observed.release
    if release is None or release.id != observed.current or release.asked != wanted.asked:
        return None
    serves = observed.state == "running" and not observed.stopping and not observed.foreign
    return release if serves and not observed.confirmed else None


def adopt(target: Target, fence: int, release: Release, observed: Observed) -> Watch | None:
    """Watch a running launch until it is proved; None when it is not what it should be."""
    readiness = target.preset.readiness
    target.say(f"launch {observed.launch}: {release.id} was left unconfirmed, and is proved now")
    target.store.arm(fence, readiness.within + readiness.settle + _ARM_MARGIN)
    watch = Watch(target, release, observed.launch, fence, 1, readiness)
    verdict = watch.run()
    if not isinstance(verdict, Ready):
        target.say(f"it does not serve: {verdict.diagnosis.summary}", "warning")
        return None
    target.store.record(fence, "ready", release=release.id, adopted=True)
    return watch
