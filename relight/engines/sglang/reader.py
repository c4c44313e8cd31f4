"""Reads one log of SGLang as it grows: bytes in, typed events out, in constant memory."""

from __future__ import annotations

import re

from pydantic import JsonValue

from relight.core.startup import (
    Ending,
    Fact,
    LogEvent,
    Progress,
    Reading,
    ReadyLine,
    Stage,
    StageReached,
)
from relight.engines.sglang.arguments import Arguments
from relight.engines.sglang.batches import batch_of
from relight.engines.sglang.cut import Cut, LineCutter
from relight.engines.sglang.facts import facts_of
from relight.engines.sglang.marks import ARGUMENTS, bar_of, captured, stage_of
from relight.engines.sglang.rule import Scene
from relight.engines.sglang.seconds import seconds_of
from relight.engines.sglang.suspects import Suspects
from relight.engines.sglang.verdict import State, diagnose

_ORDER = {stage: index for index, stage in enumerate(Stage)}
_TIMELINE = 200
_RANKS = 1024
_PLAIN = (str, int, float, bool, type(None))
_TAIL = 2000
_COMPILING = re.compile(
    r"DeepGEMM|JIT Pre-Comp|autotune|nvcc|ninja|[Cc]ompil(?:e|ing)|Building extension"
)


class SglangReader:
    """The reader of one log; `reading` may be asked at any time."""

    def __init__(self) -> None:
        self._cutter = LineCutter()
        self._reset()

    def _reset(self) -> None:
        self.arguments = Arguments()
        self._begun = False
        self._suspects = Suspects()
        self._timeline: list[StageReached] = []
        self._facts: dict[str, str | int | float | bool] = {}
        self._ranks: dict[str, Stage] = {}
        self._furthest = Stage.IMPORT
        self._leader: str | None = None
        self._rank = ""
        self._ready = False
        self._serving = False
        self._stopping = False
        self._bar: tuple[str, int] = ("", -1)
        self._last = 0
        self._tail = ""
        self._about: frozenset[str] = frozenset()
        self._scene = Scene(Stage.IMPORT, self._about)

    def feed(self, data: bytes) -> tuple[LogEvent, ...]:
        """Take the next bytes, cut anywhere, and return what they tell."""
        return self._take(self._cutter.feed(data))

    def close(self) -> tuple[LogEvent, ...]:
        """Take what is left as a last line."""
        return self._take(self._cutter.close())

    def reading(self, ending: Ending) -> Reading:
        """Say what the log came to, given how the process stands."""
        state = State(
            stage=self._furthest,
            ready=self._ready,
            serving=self._serving,
            stopping=self._stopping,
            last=self._last,
            arguments=self.arguments,
            compiling=_COMPILING.search(self._tail[:_TAIL]) is not None,
            begun=self._begun,
        )
        diagnosis, terminal = diagnose(self._suspects, ending, state)
        return Reading(
            ready=self._ready,
            stage=self._furthest,
            terminal=terminal,
            diagnosis=diagnosis,
            timeline=tuple(self._timeline),
            facts={**self._facts, **seconds_of(self._timeline)},
            arguments=self._shown(),
        )

    def _shown(self) -> dict[str, JsonValue]:
        """Return the plain arguments: nested ones are the engine's own business."""
        return {name: value for name, value in self.arguments.items() if isinstance(value, _PLAIN)}

    def _take(self, cuts: list[Cut]) -> tuple[LogEvent, ...]:
        events: list[LogEvent] = []
        for cut in cuts:
            self._line(cut.number, cut.text, events)
        return tuple(events)

    def _line(self, number: int, text: str, events: list[LogEvent]) -> None:
        stamped = text.startswith("[20")
        if stamped and (end := text.find("] ", 1, 80)) > 0:
            head, message = text[1:end], text[end + 2 :]
        else:
            stamped, head, message = False, "", text
        first = message[:7]
        if first in ("Decode ", "Prefill") and (batch := batch_of(message, number)) is not None:
            self._batch(number, head, batch.phase, events)
            events.append(batch)
            return
        if not stamped and "%" in text and self._progress(text, number, events):
            return
        if stamped and message.startswith("INFO:") and ' - "' in message:
            self._access(number, message, head[:19], events)
            return
        if stamped:
            self._rank = head.split(" ", 2)[2] if head.count(" ") > 1 else ""
        self._message(number, message, head[:19], events, stamped=stamped)

    def _access(self, number: int, message: str, at: str, events: list[LogEvent]) -> None:
        """Take one line of the HTTP server: only the warm-up's own requests mean something."""
        self._last = number
        if not self._ready and (stage := stage_of(message)) is not None:
            self._rank = ""
            self._mark(stage, number, at, events)

    def _message(
        self, number: int, message: str, at: str, events: list[LogEvent], *, stamped: bool
    ) -> None:
        if not self._timeline:
            self._reach(Stage.IMPORT, number, at, events)
        if message.startswith(ARGUMENTS):
            self._begin(number, message, at, events)
            return
        if stamped and self._furthest is Stage.IMPORT and not message.startswith("Traceback"):
            self._reach(Stage.RESOLVE, number, at, events)
        stage = stage_of(message)
        if stage is not None:
            if stage is Stage.CAPTURE:
                self._about = captured(message)
            self._mark(stage, number, at, events)
        if message.startswith("INFO: ") or self._stopping:
            return
        if not self._ready:
            self._facts_of(number, message, events)
        if stage is None:
            self._suspects.take(number, message, self._rank, self._seen(), stamped=stamped)
        if not message.isspace():
            self._last = number
            self._tail = message

    def _facts_of(self, number: int, message: str, events: list[LogEvent]) -> None:
        for name, value, last in facts_of(message):
            if last or name not in self._facts:
                self._facts[name] = value
                events.append(Fact(name=name, value=value, line=number))

    def _begin(self, number: int, message: str, at: str, events: list[LogEvent]) -> None:
        if self._ready or self._stopping:
            # A log that several launches were appended to: the last one counts.
            self._reset()
        if not self._begun:
            self._begun = True
            self.arguments = Arguments(message)
            self._scene = Scene(Stage.IMPORT, self._about, self.arguments)
        if self._furthest is Stage.IMPORT:
            self._reach(Stage.RESOLVE, number, at, events)
        self._mark(Stage.SPAWN, number, at, events)
        self._last = number

    def _seen(self) -> Scene:
        """Return where the log stands; the same scene as long as nothing changes."""
        here = self._here()
        serving = self._ready or self._serving
        scene = self._scene
        if scene.stage is not here or scene.tags is not self._about or scene.serving != serving:
            scene = self._scene = Scene(here, self._about, self.arguments, serving=serving)
        return scene

    def _here(self) -> Stage:
        if self._ready or self._serving:
            return Stage.SERVING
        return self._ranks.get(self._rank, self._furthest)

    def _mark(self, stage: Stage, number: int, at: str, events: list[LogEvent]) -> None:
        if stage is Stage.SHUTDOWN:
            if not self._stopping:
                self._reach(stage, number, at, events)
            self._stopping = True
            return
        if self._ready and stage in {Stage.WARMUP, Stage.HTTP, Stage.READY}:
            return
        if stage is Stage.READY:
            self._ready = True
            self._suspects.passed("", stage)
            self._reach(stage, number, at, events)
            events.append(ReadyLine(line=number))
            return
        self._suspects.passed(self._rank, stage)
        before = self._ranks.get(self._rank)
        if before is not None or len(self._ranks) < _RANKS:
            self._ranks[self._rank] = stage
        if _ORDER[stage] > _ORDER[self._furthest]:
            self._leader = self._rank
            self._reach(stage, number, at, events)
        elif stage is not before and self._rank == self._leader:
            self._reach(stage, number, at, events)

    def _reach(self, stage: Stage, number: int, at: str, events: list[LogEvent]) -> None:
        if _ORDER[stage] > _ORDER[self._furthest]:
            self._furthest = stage
        event = StageReached(stage=stage, line=number, at=at or None)
        if len(self._timeline) < _TIMELINE:
            self._timeline.append(event)
        events.append(event)

    def _batch(self, number: int, head: str, phase: str, events: list[LogEvent]) -> None:
        self._last = number
        if self._stopping:
            return
        if self._ready:
            if self._furthest is Stage.READY:
                self._reach(Stage.SERVING, number, head[:19], events)
        elif phase == "decode" and self._furthest is not Stage.WARMUP:
            # A log that was cut or rotated: its beginning is gone, and the server serves.
            self._serving = True
        elif phase == "prefill" and _ORDER[self._furthest] >= _ORDER[Stage.HTTP]:
            self._mark(Stage.WARMUP, number, head[:19], events)

    def _progress(self, text: str, number: int, events: list[LogEvent]) -> bool:
        bar = bar_of(text)
        if bar is None:
            return "it/s]" in text or "?it" in text
        self._last = number
        if bar.stage is Stage.CAPTURE:
            self._about |= captured(text)
        if bar.stage is not None and not self._ready and self._here() is not bar.stage:
            self._mark(bar.stage, number, "", events)
        if (bar.what, bar.percent) != self._bar:
            self._bar = (bar.what, bar.percent)
            stage = bar.stage or self._furthest
            events.append(Progress(stage=stage, percent=float(bar.percent), what=bar.what))
        return True
