"""Measure what serves, judge it against the known-good's own runs, and keep the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import ValidationError

from relight import benchmarks
from relight.core.events import Table
from relight.core.measure.history import Entry
from relight.core.measure.measurement import Measurement
from relight.core.measure.metrics import summarize
from relight.core.measure.promotion import decide
from relight.core.measure.verdict import Verdict, judge
from relight.core.measure.verdict_table import COLUMNS, rows
from relight.core.release import Release
from relight.core.startup import Batch
from relight.deploy.proof import client
from relight.deploy.target import Target
from relight.errors import HostError
from relight.store.service import ServiceStore

_ARM = 900.0
_LOG_BYTES = 4 * 1024 * 1024
_NEWEST = 24


@dataclass(frozen=True)
class Judged:
    """What a benchmark came to, and whether the preset's policy promotes it."""

    promote: bool
    answer: str
    sentence: str
    tok_s: float | None


def measure(target: Target, fence: int) -> Judged:
    """Run the preset's tool on the current release; raises HostError when none serves."""
    store = target.store
    if fence:
        store.arm(fence, _ARM)
    observed = store.status(target.service.port)
    release = observed.release
    if release is None or observed.state != "running":
        raise HostError(target.host, f"service {target.name} does not run: nothing to measure")
    tool = benchmarks.load(
        "command" if target.preset.benchmark.command else target.preset.benchmark.tool
    )
    subject = _subject(target, release)
    runs = entries(store)
    good = [one.measurement for one in runs if one.release == observed.known_good]

    def progress(text: str) -> None:
        target.go_on()
        target.say(text)

    with client(target, release) as http:
        wanted = benchmarks.Target(
            base_url=str(http.base_url),
            model=release.served_name,
            endpoints=target.engine.endpoints,
            flags=release.flags,
            subject=subject,
            batches=lambda: _batches(target, observed.launch),
            headers={
                name: value for name, value in http.headers.items() if name == "authorization"
            },
            engine=target.spec.engine,
            engine_version=release.engine_version,
            model_path=release.model,
            context_length=_whole(release, "context-length"),
            running_requests=_whole(release, "max-running-requests"),
            known_tok_s=summarize(good[-1]).tok_s if good else None,
        )
        run = tool.measure(wanted, target.preset.benchmark, target.connection, progress)
    verdict = judge(run, good, target.preset.expect, by_release(runs))
    decision = decide(verdict, target.preset.benchmark)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    entry = Entry(release=release.id, measurement=run, verdict=verdict)
    name = f"{release.id}.{observed.launch}.{stamp}"
    store.write_measurement(name, entry.model_dump_json().encode())
    if verdict.rows:
        target.report(Table(columns=COLUMNS, rows=rows(verdict)))
    for reason in verdict.reasons:
        target.say(reason)
    summary = summarize(run)
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
    return verdict.sentence if promote else f"{verdict.sentence} ({because})"


def entries(store: ServiceStore, release: str = "*") -> list[Entry]:
    """Return the stored benchmarks of a release (`*`: all), oldest first; unreadable ones not."""
    found = []
    for text in store.read_measurements(release, _NEWEST):
        try:
            found.append(Entry.model_validate_json(text))
        except ValidationError:
            continue
    return found


def by_release(runs: Sequence[Entry]) -> tuple[tuple[Measurement, ...], ...]:
    """Return runs in groups of one config: they tell how much this host's restarts differ."""
    groups: dict[str, list[Measurement]] = {}
    for one in runs:
        groups.setdefault(one.release, []).append(one.measurement)
    return tuple(tuple(group) for group in groups.values())


def _whole(release: Release, flag: str) -> int | None:
    value = release.flags.get(flag)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _subject(target: Target, release: Release) -> dict[str, str]:
    """Return what makes numbers comparable: the model and how its numbers are made."""
    flags = release.flags
    named = ("dtype", "quantization", "kv-cache-dtype", "context-length", "tp-size")
    subject = {name: str(flags[name]) for name in named if name in flags}
    return {"host": target.host, "model": release.model} | subject


def _batches(target: Target, launch: int) -> list[Batch]:
    """Return the batch lines at the end of a launch's log."""
    reader = target.engine.reader()
    events = reader.feed(target.store.log(launch, _LOG_BYTES)) + reader.close()
    return [event for event in events if isinstance(event, Batch)]
