"""Requested against effective: asked of the server, kept with its release, compared, read back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import JsonValue

from relight.core.build import Build, Explanation
from relight.core.desired import Wanted
from relight.core.effective import COLUMNS, Effective, differences, read_effective
from relight.core.events import Table
from relight.core.facts import HostFacts
from relight.core.release import Release
from relight.core.startup import Ending, Reading
from relight.deploy.build_checks import cached_build, read_build
from relight.deploy.look import look
from relight.deploy.proof import client
from relight.deploy.target import Target
from relight.deploy.wanted import wanted_of
from relight.errors import HostError, RelightError
from relight.store.kept import keep, kept
from relight.store.service import StaleFence

if TYPE_CHECKING:
    import httpx

_ANSWER_WITHIN = 15.0


def explain_now(target: Target) -> tuple[Explanation, str]:
    """Return requested against effective, and words when it is not of the running server.

    What does not run is explained by what was kept of it. Raises HostError when nothing was.
    """
    seen = look(target, write=False)
    release = seen.observed.release
    if release is None:
        raise HostError(target.host, f"service {target.name} was never deployed")
    if seen.observed.state != "running":
        stored = stored_effective(target, release.id)
        if stored is None:
            what = f"service {target.name} does not run, and nothing was kept of {release.id}"
            raise HostError(target.host, what)
        return stored.explanation, f"{release.id} does not run; this is how it was at {stored.at}"
    reader = target.engine.reader()
    for piece in target.store.whole_log(seen.observed.launch):
        reader.feed(piece)
    reader.close()
    wanted = wanted_of(target, seen, port=release.port)
    build = read_build(target, wanted, write=False)
    reading = reader.reading(Ending(state="running"))
    with client(target, release, timeout=_ANSWER_WITHIN) as http:
        info = server_info(target, http)
    now = in_effect(target, release, seen.observed.launch, reading, info, build, seen.facts)
    return now.explanation, ""


def stored_effective(target: Target, release: str) -> Effective | None:
    """Return what was kept with a release; None when nothing was, or it cannot be read."""
    return read_effective(kept(target.store, place_of(release)))


def keep_effective(
    target: Target,
    wanted: Wanted | None,
    release: Release,
    launch: int,
    reading: Reading,
    facts: HostFacts,
    former: str | None,
) -> None:
    """Ask the server what it made of its flags, keep it with the release, and tell what differs.

    `former` is the known-good before; without `wanted` the build's defaults are not known.
    Whatever goes wrong here changes nothing of the deploy.
    """
    try:
        build = cached_build(target, wanted) if wanted is not None else None
        with client(target, release, timeout=_ANSWER_WITHIN) as http:
            info = server_info(target, http)
        now = in_effect(target, release, launch, reading, info, build, facts)
        before = stored_effective(target, former) if former and former != release.id else None
        keep(target.store, place_of(release.id), written(now))
    except StaleFence:
        raise
    except (RelightError, TimeoutError, ValueError, OSError) as error:
        target.say(f"what is in effect was not kept: {error}", "warning")
        return
    tell_effect(target, before, now, former)


def server_info(target: Target, http: httpx.Client) -> dict[str, JsonValue]:
    """Return what the server says of itself; nothing when it does not answer so."""
    import httpx  # noqa: PLC0415 - start-up time

    try:
        answer = http.get(target.engine.endpoints.info, timeout=_ANSWER_WITHIN).json()
    except (httpx.HTTPError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}


def in_effect(
    target: Target,
    release: Release,
    launch: int,
    reading: Reading,
    info: dict[str, JsonValue],
    build: Build | None,
    facts: HostFacts,
) -> Effective:
    """Return requested against effective of a launch, as it is kept with its release."""
    compute = facts.gpus[0].compute if facts.gpus else ""
    sm = float(compute) * 10 if compute.replace(".", "", 1).isdigit() else None
    return Effective(
        release=release.id,
        launch=launch,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        explanation=target.engine.explain(release.flags, info, reading, build, sm),
        info=target.engine.kept_info(info, release.flags, build),
    )


def tell_effect(
    target: Target, before: Effective | None, now: Effective, former: str | None
) -> None:
    """Report what differs in effect from the known-good before; nothing of that one itself."""
    rows = () if former == now.release else differences(before, now)
    if rows:
        against = f"in effect, against {former}" if before is not None else "asked and not got"
        target.report(Table(title=f"{now.release}: {against}", columns=COLUMNS, rows=rows))


def written(effective: Effective) -> bytes:
    """Return it as it is kept."""
    return effective.model_dump_json(indent=1).encode()


def place_of(release: str) -> str:
    """Return where it is kept of a release, below the service's folder."""
    return f"effective/{release}.json"
