"""How long a service's last starts took, kept on its host; only ever an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from relight.core.release import Release
from relight.core.time_left import Segment, Start, read_starts
from relight.deploy.target import Target
from relight.errors import RelightError
from relight.store.kept import keep, kept

STARTS = "starts.json"


def past_starts(target: Target, preset: str, model: str) -> tuple[Start, ...]:
    """Return this host's starts of the preset and model; none when they cannot be read."""
    try:
        return read_starts(kept(target.store, STARTS)).like(preset, model)
    except (RelightError, TimeoutError):
        return ()


def keep_start(target: Target, release: Release, segments: Sequence[Segment]) -> None:
    """Keep how long a start took that became ready; a failure is told and changes nothing."""
    try:
        known = read_starts(kept(target.store, STARTS))
        now = known.with_start(start_of(release, segments))
        keep(target.store, STARTS, now.model_dump_json(indent=1).encode())
    except (RelightError, TimeoutError) as error:
        target.say(f"how long the start took was not kept: {error}", "warning")


def start_of(release: Release, segments: Sequence[Segment], stop: float = 0.0) -> Start:
    """Return a start that just became ready.

    `stop` are the seconds that stopping the server before it took, 0 where there was none.
    """
    return Start(
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        release=release.id,
        preset=release.preset,
        model=release.model,
        segments=tuple(segments),
        stop=round(stop, 2),
    )
