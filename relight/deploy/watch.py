"""Watching one launch from its first byte to a verdict; nothing here sleeps and hopes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from relight.core.attempt import Failed, Ready
from relight.core.engine import LogReader
from relight.core.events import LaunchProgress
from relight.core.failure import Diagnosis, FailureClass
from relight.core.observed import Pulse
from relight.core.placement import misplaced, with_holder
from relight.core.preset import Canary, Readiness
from relight.core.release import Release
from relight.core.startup import Ending, LogEvent, Progress, ReadyLine, StageReached
from relight.core.time_left import Pace, Start
from relight.deploy.proof import Proof, client
from relight.deploy.target import Target
from relight.errors import HostError, Unreachable
from relight.store.service import StaleFence

if TYPE_CHECKING:
    import httpx

_TICK = 1.0
_PULSE_EVERY = 4.0
_REOPEN = 5
_LAST_WORDS = 3.0


@dataclass
class Watch:
    """One launch under watch; `run` returns its verdict."""

    target: Target
    release: Release
    launch: int
    fence: int
    attempt: int
    readiness: Readiness
    answers: tuple[Canary, ...] = ()
    past: tuple[Start, ...] = ()
    ready: Callable[[], None] = lambda: None
    """Called at the ready line: what may begin while the server is asked for its proof."""
    beside: Callable[[httpx.Client], bool] = lambda _http: True
    """Called in a thread beside the proof, with its client; once more afterwards when False.

    A server that compiles at its first request answers nothing else for a minute (H200, 0.5.12).
    """
    reader: LogReader = field(init=False)
    pace: Pace = field(init=False)
    read_bytes: int = 0
    ready_line: bool = False
    _stage: str = "import"
    _worked: float = 0.0
    _ticks: int = -1
    _pulsed: float = 0.0
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Open the log reader of the engine."""
        self.reader = self.target.engine.reader()
        self.pace = Pace(self.past)

    def run(self) -> Ready | Failed:
        """Watch until ready and proved, or until it is known why not."""
        self._began = self._worked = time.monotonic()
        self.pace.enter(self._stage, self._began)
        # The client is made while the server loads: what it imports would cost time afterwards.
        with client(self.target, self.release, timeout=self.readiness.answer) as http:
            failed = self._until_ready_line()
            if failed is not None:
                return failed
            self.ready()
            proof = Proof(http, self.target, self.release, self.answers, self._announced())
            wrong = misplaced(self._pulse(), self.release.port) or self._asked(proof, http)
            if wrong is None and self.readiness.settle:
                wrong = self._settle() or proof.again()
            wrong = wrong or self._confessed()
        looked = time.monotonic() - self._pulsed
        if wrong is None and (self.readiness.settle or looked >= _PULSE_EVERY):
            wrong = misplaced(self._pulse(), self.release.port)
        return Ready() if wrong is None else Failed(diagnosis=self._named(wrong))

    def _asked(self, proof: Proof, http: httpx.Client) -> Diagnosis | None:
        with ThreadPoolExecutor(1) as pool:
            beside = pool.submit(self.beside, http)
            wrong = proof.usable()
        if wrong is None and not beside.result():
            self.beside(http)
        return wrong

    def _until_ready_line(self) -> Failed | None:
        for opened in range(1, _REOPEN + 1):
            try:
                failed = self._read_stream()
            except Unreachable:
                if opened == _REOPEN:
                    raise
                continue
            if failed is not None or self.ready_line:
                return failed
            self._report_events(self.reader.close())
            pulse = self._pulse()
            if pulse.state != "running":
                return Failed(diagnosis=self._diagnosis(pulse, "exited"))
        return Failed(diagnosis=self._diagnosis(self._pulse(), "hung", late=True))

    def _read_stream(self) -> Failed | None:
        """Read the log from where reading stopped, until its end, the ready line or a limit."""
        stream = self.target.store.follow(self.launch, self.read_bytes)
        try:
            while (data := stream.read(_TICK)) != b"":
                if data is not None:
                    self._feed(data)
                if self.ready_line:
                    return None
                failed = self._check_clock()
                if failed is not None:
                    return failed
        finally:
            stream.close()
        return None

    def _check_clock(self) -> Failed | None:
        self.target.go_on()
        now = time.monotonic()
        if now - self._pulsed >= _PULSE_EVERY:
            pulse = self._pulse()
            if pulse.state != "running" and not pulse.pids:
                return None  # the stream ends by itself and brings the last lines
            told = self.reader.reading(Ending(state="running")).diagnosis
            if told is not None and told.failure is FailureClass.PORT_IN_USE:
                # SGLang waits for ever for a port that it lost.
                return Failed(diagnosis=with_holder(told, pulse, self.release.port))
            if now - self._began > self.readiness.within:
                return Failed(diagnosis=self._diagnosis(pulse, "hung", late=True))
            if now - self._worked > self.readiness.stall:
                return Failed(diagnosis=self._diagnosis(pulse, "hung"))
        return None

    def _pulse(self) -> Pulse:
        pulse = self.target.store.pulse(self.launch, self.fence, self.release.port)
        if pulse.fence != self.fence:
            raise StaleFence(
                self.target.host,
                "the dead-man or another deploy took over while this one was watching",
                "relight status says what serves now",
            )
        now = time.monotonic()
        self._pulsed = now
        if pulse.ticks != self._ticks:
            # CPU time of a waiting process creeps by a tick or two; work shows as more than that.
            if pulse.ticks - self._ticks > _PULSE_EVERY or self._ticks < 0:
                self._worked = now
            self._ticks = pulse.ticks
        self._tell(None)
        return pulse

    def _settle(self) -> Diagnosis | None:
        """Hold for the settle time: a server that dies in it was never ready."""
        ends = time.monotonic() + self.readiness.settle
        self._enter("settle")
        stream = self.target.store.follow(self.launch, self.read_bytes)
        try:
            while (left := ends - time.monotonic()) > 0:
                data = stream.read(min(_TICK, left))
                if data == b"":
                    return Diagnosis(
                        failure=FailureClass.RUNTIME_CRASH, summary="it ended right after ready"
                    )
                if data is not None:
                    self._feed(data)
                self.target.go_on()
                if time.monotonic() - self._pulsed >= _PULSE_EVERY:
                    self._pulse()
        finally:
            stream.close()
        return None

    def _announced(self) -> tuple[int, ...]:
        """Return the sizes in tokens that the engine's log tells: context and cache."""
        facts = self.reader.reading(Ending(state="running")).facts
        found = (facts.get(name) for name in ("context_len", "max_total_num_tokens"))
        return tuple(one for one in found if isinstance(one, int) and not isinstance(one, bool))

    def _confessed(self) -> Diagnosis | None:
        """Return a wrong output that the log admits, though the answers look well (NaN)."""
        told = self.reader.reading(Ending(state="running")).diagnosis
        return told if told is not None and told.failure is FailureClass.WRONG_OUTPUT else None

    def _catch_up(self) -> None:
        """Read what the log has said since the ready line: the proof did not listen to it."""
        until = time.monotonic() + _LAST_WORDS
        stream = self.target.store.follow(self.launch, self.read_bytes)
        try:
            while time.monotonic() < until and (data := stream.read(_TICK)):
                self._feed(data)
        finally:
            stream.close()

    def _named(self, wrong: Diagnosis) -> Diagnosis:
        """Return what the log says of it, where it says more than what was seen from outside."""
        try:
            self._catch_up()
            pulse = self._pulse()
        except HostError:
            return wrong
        self._report_events(self.reader.close())
        state = "running" if pulse.state == "running" else "exited"
        ending = Ending(
            state="running" if state == "running" else "exited",
            exit=pulse.exit,
            port_holder=pulse.foreign[0] if pulse.foreign else "",
        )
        told = self.reader.reading(ending).diagnosis
        if told is None or told.failure is FailureClass.UNKNOWN:
            return wrong
        says_more = wrong.failure in (FailureClass.RUNTIME_CRASH, told.failure)
        return with_holder(told, pulse, self.release.port) if says_more else wrong

    def _diagnosis(self, pulse: Pulse, state: str, *, late: bool = False) -> Diagnosis:
        ending = Ending(
            state="hung" if state == "hung" else "exited",
            exit=pulse.exit,
            port_holder=pulse.foreign[0] if pulse.foreign else "",
        )
        told = self.reader.reading(ending).diagnosis
        # Too slow is not the same as still: the log cannot tell, the clock can.
        slow = late and told is not None and told.failure is FailureClass.STARTUP_STALL
        if told is not None and not slow:
            return with_holder(told, pulse, self.release.port)
        if state == "hung":
            limit = self.readiness.within if late else self.readiness.stall
            what = f"not ready within {limit:.0f} s" if late else f"silent for {limit:.0f} s"
            return Diagnosis(failure=FailureClass.STARTUP_STALL, summary=what)
        return Diagnosis(
            failure=FailureClass.UNKNOWN,
            summary=f"the process ended with status {pulse.exit}, and no line says why",
        )

    def _feed(self, data: bytes) -> None:
        self.read_bytes += len(data)
        self._worked = time.monotonic()
        self._report_events(self.reader.feed(data))

    def _report_events(self, events: tuple[LogEvent, ...]) -> None:
        for event in events:
            if isinstance(event, ReadyLine):
                self.ready_line = True
            elif isinstance(event, StageReached):
                self._enter(event.stage.value)
                self._tell(None)
            elif isinstance(event, Progress):
                self._tell(event.percent, event.what)

    def _enter(self, stage: str) -> None:
        self._stage = stage
        self.pace.enter(stage, time.monotonic())

    def _tell(self, percent: float | None, text: str = "") -> None:
        now = time.monotonic()
        left = self.pace.left(now, percent)
        self.target.report(
            LaunchProgress(
                host=self.target.host,
                service=self.target.name,
                attempt=self.attempt,
                stage=self._stage,
                seconds=round(now - self._began, 1),
                percent=percent,
                left=None if left is None else round(left, 1),
                text=text,
            )
        )
