"""The switch: lock, dead-man, stop, launch, watch, fall back; ends ready or says why not."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from relight.connections.anew import Anew
from relight.core.attempt import Attempt, Failed, Ready, Recipe, Refused, refusals
from relight.core.desired import Wanted
from relight.core.events import AttemptEnded, Dropped
from relight.core.facts import HostFacts
from relight.core.failure import Diagnosis
from relight.core.gave_up import gave_up
from relight.core.ladder import Launch, Promote, RollBack, next_step
from relight.core.observed import Observed
from relight.core.release import Given, Release
from relight.core.startup import Ending
from relight.core.time_left import Starts
from relight.deploy.before import Before, read_before
from relight.deploy.capacity import await_room
from relight.deploy.effective import server_info
from relight.deploy.proved import Proved, record_proved
from relight.deploy.remembered import remember
from relight.deploy.secrets import write_release
from relight.deploy.starts import start_of
from relight.deploy.target import Target
from relight.deploy.wanted import make_release
from relight.deploy.watch import Watch
from relight.errors import HostError

if TYPE_CHECKING:
    import httpx

_ARM_MARGIN = 120.0
_STOP_FAILED_WITHIN = 5.0


@dataclass
class Switch:
    """One run of the ladder under a lock; `attempts` is its history, preflight's refusals first."""

    target: Target
    wanted: Wanted
    fence: int
    observed: Observed
    facts: HostFacts
    refused: dict[str, str] = field(default_factory=dict)
    remembered: tuple[Refused, ...] = ()
    weights_mib: float = 0.0
    attempts: list[Attempt] = field(default_factory=list)
    release: Release | None = None
    reason: str = ""
    anew: Anew | None = None
    """A connection that promotion will take, opened as soon as the server says it is ready."""
    before: Before | None = None
    info: dict[str, JsonValue] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def run(self) -> bool:
        """Launch until ready; False when nothing was left to try (`reason` says why).

        What the launches proved is kept on the host, whichever way it ended.
        """
        self.attempts = list(refusals(self.refused, self.remembered))
        ready = self._climb()
        release = self.release.id if self.release is not None else ""
        remember(self.target, self.wanted, self.attempts, self.refused, release)
        return ready

    def _climb(self) -> bool:
        while True:
            step = next_step(
                self.wanted.preset,
                self.attempts,
                protected=self.target.engine.protected,
                canonical=self.target.engine.canonical,
            )
            match step:
                case Promote():
                    return True
                case RollBack(reason=reason):
                    self.reason = reason
                    return False
                case Launch(recipe=recipe, reason=reason):
                    self._attempt(recipe, reason)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Return what the last failed launch came to."""
        failed = [one.verdict for one in self.attempts if isinstance(one.verdict, Failed)]
        return failed[-1].diagnosis if failed else None

    @property
    def downtime(self) -> float:
        """Return the seconds that no server was up, as far as this switch caused it."""
        return sum(attempt.seconds for attempt in self.attempts)

    def _attempt(self, recipe: Recipe, why: str) -> None:
        target, store = self.target, self.target.store
        first = not any(attempt.launched for attempt in self.attempts)
        given = gave_up(self.wanted.preset, recipe, self.attempts)
        self._tell_given(given, silent=first)
        release, launch_sh = make_release(
            target,
            self.wanted,
            recipe,
            known=self.observed.releases,
            gave_up=given,
            driver=self.facts.driver,
        )
        if release.id not in self.observed.releases:
            write_release(target, self.wanted, release, launch_sh)
        self.observed = self.observed.with_release(release.id)
        began = time.monotonic()
        preset = self.wanted.preset
        left = max(1.0, preset.max_downtime - self.downtime)
        within = min(preset.readiness.within, left)
        readiness = preset.readiness.model_copy(update={"within": within})
        drain = preset.drain if first else _STOP_FAILED_WITHIN
        self._stop(drain, why, drain + readiness.within + readiness.settle + _ARM_MARGIN)
        stopped = time.monotonic()
        launch, pid = store.start(self.fence, release.id)
        number = sum(attempt.launched for attempt in self.attempts) + 1
        target.say(f"launch {launch}: {release.id} (pid {pid})")
        self.release = release
        # Read now, while the server loads, when it costs nobody a moment of darkness.
        before = self.before or read_before(target, self.wanted, self.observed.known_good)
        self.before = before
        watch = Watch(
            target,
            release,
            launch,
            self.fence,
            number,
            readiness,
            preset.expect.answers,
            (before.starts or Starts()).like(self.wanted.preset_name, preset.model),
            ready=self.anew.begin if self.anew is not None else lambda: None,
            beside=self._ask,
        )
        verdict = watch.run()
        ended = time.monotonic()
        seconds = ended - began
        self.attempts.append(Attempt(recipe=recipe, verdict=verdict, seconds=seconds))
        self._tell(number, release, verdict, seconds)
        if isinstance(verdict, Ready):
            start = start_of(release, watch.pace.segments(ended), stopped - began)
            reading = watch.reader.reading(Ending(state="running"))
            proved = Proved(release, launch, reading, self.info, start, seconds)
            good = self.observed.known_good
            record_proved(target, self.fence, proved, before, self.facts, good)

    def _ask(self, http: httpx.Client) -> bool:
        self.info = server_info(self.target, http)
        return bool(self.info)

    def _tell_given(self, given: tuple[Given, ...], *, silent: bool) -> None:
        """Say once of everything that is given up; what preflight left out was said there."""
        for one in given:
            if not silent and one.what not in self._told:
                self.target.report(
                    Dropped(
                        host=self.target.host,
                        service=self.target.name,
                        what=one.what,
                        reason=one.reason,
                        evidence=one.evidence,
                    )
                )
            self._told.add(one.what)

    def _stop(self, drain: float, why: str, deadman: float) -> None:
        """Arm the dead-man, and let nothing of ours run."""
        target, foreign = self.target, self.observed.foreign
        if self.observed.state == "running" or any(a.launched for a in self.attempts):
            target.say(f"stopping launch (drain up to {drain:.0f} s){': ' + why if why else ''}")
            how, foreign = target.store.arm_and_stop(self.fence, drain, deadman, self.wanted.port)
            if how in ("interrupted", "killed"):
                target.say(f"the server did not drain in {drain:.0f} s: {how}", "warning")
        else:
            target.store.arm(self.fence, deadman)
        if foreign:
            raise HostError(
                target.host,
                f"port {self.wanted.port} is held by a process that is not relight's: "
                + "; ".join(foreign),
                "end it yourself or give the service another port; nothing of it was touched",
            )
        await_room(target, self.weights_mib)

    def _tell(self, number: int, release: Release, verdict: Ready | Failed, took: float) -> None:
        target, store = self.target, self.target.store
        diagnosis = verdict.diagnosis if isinstance(verdict, Failed) else None
        target.report(
            AttemptEnded(
                host=target.host,
                service=target.name,
                attempt=number,
                verdict=verdict.kind,
                seconds=round(took, 1),
                diagnosis=diagnosis,
            )
        )
        if diagnosis is None:
            return
        evidence = diagnosis.evidence.text[:300] if diagnosis.evidence else ""
        store.record(
            self.fence,
            "failed",
            release=release.id,
            seconds=round(took, 1),
            failure=diagnosis.failure.value,
            flag=diagnosis.flag,
            summary=diagnosis.summary[:300],
            evidence=evidence,
        )
