"""What is written down of a launch that was proved, in one round trip."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from relight.core.effective import Effective
from relight.core.facts import HostFacts
from relight.core.release import Release
from relight.core.startup import Reading
from relight.core.time_left import Start
from relight.deploy.before import Before
from relight.deploy.effective import in_effect, place_of, tell_effect, written
from relight.deploy.starts import STARTS
from relight.deploy.target import Target
from relight.store.kept import keep_step


@dataclass(frozen=True)
class Proved:
    """A launch that was proved: its log as read, what its server said of itself, how it started.

    `seconds` are those of the whole attempt, from the stop of the server before it.
    """

    release: Release
    launch: int
    reading: Reading
    info: dict[str, JsonValue]
    start: Start
    seconds: float


def record_proved(
    target: Target,
    fence: int,
    proved: Proved,
    before: Before,
    facts: HostFacts,
    known_good: str | None,
) -> None:
    """Write ready in the ledger, keep the start and what is in effect, and tell what differs.

    `known_good` is the release before. What cannot be kept is told, and changes nothing of the
    deploy; raises StaleFence when the lock is lost.
    """
    release = proved.release
    files: dict[str, bytes] = {}
    if before.starts is not None:
        starts = before.starts.with_start(proved.start)
        files[STARTS] = starts.model_dump_json(indent=1).encode()
    now = _in_effect(target, proved, before, facts)
    if now is not None:
        files[place_of(release.id)] = written(now)
    kept = target.store.record(
        fence,
        "ready",
        *(keep_step(target.store, place, len(text)) for place, text in files.items()),
        data=b"".join(files.values()),
        release=release.id,
        seconds=round(proved.seconds, 1),
    )
    if [one.exit for one in kept] != [0] * len(files):
        why = kept[-1].err.strip()[-300:] if kept else "it was not begun"
        target.say(f"what this start showed was not kept: {why}", "warning")
    if now is not None:
        tell_effect(target, before.effective, now, known_good)


def _in_effect(
    target: Target, proved: Proved, before: Before, facts: HostFacts
) -> Effective | None:
    """Return what is in effect; an engine that describes itself oddly fails no deploy."""
    release, launch = proved.release, proved.launch
    try:
        return in_effect(target, release, launch, proved.reading, proved.info, before.build, facts)
    except ValueError as error:
        target.say(f"what is in effect was not kept: {error}", "warning")
        return None
