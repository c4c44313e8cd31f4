"""Measure what serves, judge it against the known-good's own runs, and keep the numbers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from relight import benchmarks
from relight.core.engine import ServerRequest
from relight.core.events import Table
from relight.core.measure.comparison import Answer
from relight.core.measure.history import Entry, by_config, starts
from relight.core.measure.metrics import summarize
from relight.core.measure.promotion import decide
from relight.core.measure.verdict import Verdict, judge
from relight.core.measure.verdict_table import FIGURES, columns, figures, rows
from relight.core.release import Release
from relight.core.startup import Batch
from relight.deploy.look import Seen, look
from relight.deploy.proof import client
from relight.deploy.target import Target
from relight.deploy.wanted import wanted_of
from relight.errors import HostError
from relight.store.measurements import keep_measurement, kept_measurements
from relight.store.service import ServiceStore

if TYPE_CHECKING:
    import httpx

_ARM = 900.0
_REARM = 120.0
_INFO_WITHIN = 15.0
_LOG_BYTES = 4 * 1024 * 1024
_NEWEST = 24


@dataclass(frozen=True)
class Judged:
    """What a benchmark came to, and whether the preset's policy promotes it."""

    promote: bool
    answer: str
    sentence: str
    tok_s: float | None


class _Hold:
    """What keeps a deploy alive while it measures: progress told, interrupts heard, time moved."""

    def __init__(self, target: Target, fence: int) -> None:
        self._target, self._fence = target, fence
        self._armed = -math.inf
        self.told: set[str] = set()
        self()

    def __call__(self) -> None:
        """Raise Interrupted when the operator said stop; else move the dead-man's deadline."""
        self._target.go_on()
        if self._fence and time.monotonic() - self._armed > _REARM:
            self._target.store.arm(self._fence, _ARM)
            self._armed = time.monotonic()

    def say(self, text: str) -> None:
        """Tell progress."""
        self()
        self.told.add(text)
        self._target.say(text)


def measure(target: Target, fence: int) -> Judged:
    """Run the preset's tool on the current release; raises HostError when none serves."""
    store = target.store
    plan = target.preset.benchmark
    tool = benchmarks.load("command" if plan.command else plan.tool)
    hold = _Hold(target, fence)
    seen = look(target, write=True)
    observed = seen.observed
    release = observed.release
    if release is None or observed.state != "running":
        raise HostError(target.host, f"service {target.name} does not run: nothing to measure")
    runs = entries(store)
    good = starts([one for one in runs if one.release == observed.known_good])
    with client(target, release) as http:
        wanted = replace(
            _wanted(target, seen, release, http),
            before=good[-1] if good else None,
            go_on=hold,
        )
        run = tool.measure(wanted, plan, target.connection, hold.say)
    verdict = judge(run, good, target.preset.expect, by_config(runs, observed.known_good))
    decision = decide(verdict, plan)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    entry = Entry(release=release.id, launch=observed.launch, measurement=run, verdict=verdict)
    name = f"{release.id}.{observed.launch}.{stamp}"
    keep_measurement(store, name, entry.model_dump_json().encode())
    summary = summarize(run)
    if verdict.rows:
        target.report(Table(columns=columns(), rows=rows(verdict)))
    else:
        target.report(Table(columns=FIGURES, rows=figures(summary)))
    for reason in verdict.reasons:
        if reason not in hold.told:
            target.say(reason)
    if fence:
        store.record(
            fence,
            "benchmarked",
            release=release.id,
            answer=verdict.answer.value,
            sentence=verdict.sentence,
            tok_s=summary.tok_s,
        )
    return Judged(
        promote=decision.promote,
        answer=verdict.answer.value,
        sentence=_sentence(verdict, decision.because, promote=decision.promote),
        tok_s=summary.tok_s,
    )


def _sentence(verdict: Verdict, because: str, *, promote: bool) -> str:
    plain = promote and verdict.answer not in (Answer.WORSE, Answer.INCONCLUSIVE)
    return verdict.sentence if plain else f"{verdict.sentence} ({because})"


def entries(store: ServiceStore, release: str = "*") -> list[Entry]:
    """Return the stored benchmarks of a release (`*`: all), oldest first; unreadable ones not."""
    found = []
    for text in kept_measurements(store, release, _NEWEST):
        try:
            found.append(Entry.model_validate_json(text))
        except ValidationError:
            continue
    return found


def _wanted(target: Target, seen: Seen, release: Release, http: httpx.Client) -> benchmarks.Target:
    """Return what a tool has to know of the server, its effective limits asked of itself."""
    import httpx  # noqa: PLC0415 - start-up time

    engine = target.engine
    wanted = wanted_of(target, seen, port=release.port)
    request = ServerRequest(
        spec=wanted.spec,
        model=release.model,
        served_name=release.served_name,
        port=release.port,
        flags=release.flags,
    )
    try:
        told = http.get(engine.endpoints.info, timeout=_INFO_WITHIN).json()
    except (httpx.HTTPError, ValueError):
        told = {}
    limits = engine.limits(told if isinstance(told, dict) else {})
    return benchmarks.Target(
        base_url=str(http.base_url),
        model=release.served_name,
        endpoints=engine.endpoints,
        flags=release.flags,
        subject=_subject(target, release),
        batches=lambda: _batches(target, seen.observed.launch),
        headers={name: value for name, value in http.headers.items() if name == "authorization"},
        pids=seen.observed.pids,
        python=engine.python_of(wanted.spec),
        environment=release.env,
        engine_version=release.engine_version,
        model_path=engine.model_path(request),
        context_length=limits.context_length,
        running_requests=limits.running_requests,
    )


def _subject(target: Target, release: Release) -> dict[str, str]:
    """Return what makes numbers comparable: the model and how its numbers are made."""
    flags = {target.engine.canonical(name): str(value) for name, value in release.flags.items()}
    subject = {name: flags[name] for name in target.engine.compared if name in flags}
    return {"host": target.host, "model": release.model} | subject


def _batches(target: Target, launch: int) -> list[Batch]:
    """Return the batch lines at the end of a launch's log."""
    reader = target.engine.reader()
    events = reader.feed(target.store.log(launch, _LOG_BYTES)) + reader.close()
    return [event for event in events if isinstance(event, Batch)]
