"""Collects, line by line and in bounded memory, what may be the cause of a failure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from relight.core.startup import Stage
from relight.engines.sglang.frames import place_of
from relight.engines.sglang.rule import Rule, Scene, Tier
from relight.engines.sglang.rules import BENIGN, matching

_OPENS = "Traceback (most recent call last)"
_CHAIN = ("During handling of the above", "The above exception was")
_TORCH_RANK = re.compile(r"^\[rank\d+\]:\s?")
# The line that ends a traceback: an exception's dotted name at the start of the line.
_EXCEPTION = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:: |:?$)")
# A process that ends because its parent or its user ended it says this; it is no cause.
_LEFT = re.compile(
    r"(?:\w+\.)*(?:BrokenPipeError|EOFError|KeyboardInterrupt|CancelledError|SystemExit|"
    r"GeneratorExit|ConnectionResetError|ConnectionRefusedError)\b"
)
_FRAMED = re.compile(
    r"hit an exception|Exception in Controller|Initialization failed\.|"
    r"[Ss]cheduler (?:died|is dead)"
)
_CAPTURE = re.compile(r"Capture (\w+ )*(?:CUDA )?graph failed", re.IGNORECASE)
_PREFILL = re.compile(r"prefill|piecewise", re.IGNORECASE)
_ORDER = {stage: index for index, stage in enumerate(Stage)}
_MANY = 16
"""Tracebacks that may be open at a time, and bare exceptions that are kept."""


class Suspect(NamedTuple):
    """A line that a rule points at; without a rule it is an exception that no rule knows."""

    rule: Rule | None
    tier: Tier
    line: int
    text: str
    match: re.Match[str] | None
    scene: Scene
    incident: int
    rank: str
    framed: bool


@dataclass(slots=True)
class Incident:
    """One failure as it is printed: a traceback with its frames."""

    start: int
    rank: str
    stage: Stage
    framed: bool
    tags: set[str] = field(default_factory=set)


class Suspects:
    """The first line of each rule, before and after the server was ready, and bare exceptions."""

    def __init__(self) -> None:
        self.found: list[Suspect] = []
        self.last: Suspect | None = None
        self.counts: dict[str, int] = {}
        self._open: list[Incident] = []
        self._closed: Incident | None = None
        self._chained = False
        self._tags: set[str] = set()
        self._known: set[tuple[str, bool]] = set()
        self._source = False

    def take(self, line: int, text: str, rank: str, scene: Scene, *, stamped: bool) -> None:
        """Look at one message that is neither a stage's, nor a bar, nor a batch."""
        if text.startswith("[rank"):
            text = _TORCH_RANK.sub("", text)
        if text.startswith(_CHAIN):
            self._chained = True
            return
        if _OPENS in text:
            self._begin(line, text, rank, scene, stamped=stamped)
            if text.startswith(_OPENS):
                return
        current = None if stamped else self._current()
        self._place(text, current, within=bool(self._open) and not stamped)
        # The line after a frame is source code: its words are no message.
        source, self._source = self._source, text.startswith('  File "')
        matches = matching(text)
        if matches:
            self._judge(line, text, matches, rank, scene, current, source=source)
        if not stamped and self._open and _EXCEPTION.match(text):
            echo = any(rule.tier is Tier.ECHO for rule, _ in matches)
            self._bare(line, text, scene, echo=echo)

    def passed(self, rank: str, stage: Stage) -> None:
        """Forget what the same rank survived: it went on to a later stage."""
        if not self.found:
            return
        ready = stage is Stage.READY
        kept = [
            one
            for one in self.found
            if (one.rule is not None and one.rule.lasting)
            or not (ready or (one.rank == rank and _ORDER[stage] > _ORDER[one.scene.stage]))
        ]
        for one in self.found:
            if one not in kept and one.rule is not None:
                self._known.discard((one.rule.name, one.scene.serving))
        self.found = kept

    def _begin(self, line: int, text: str, rank: str, scene: Scene, *, stamped: bool) -> None:
        if not stamped and self._chained and (before := self._current()) is not None:
            self._open.append(before) if before not in self._open else None
        else:
            framed = _FRAMED.search(text) is not None
            self._open.append(Incident(line, rank, scene.stage, framed))
            del self._open[:-_MANY]
        self._chained = False

    def _current(self) -> Incident | None:
        return self._open[-1] if self._open else self._closed

    def _place(self, text: str, current: Incident | None, *, within: bool) -> None:
        place = place_of(text, within=within)
        if place is None:
            return
        stage, tag = place
        if tag:
            (self._tags if current is None else current.tags).add(tag)
        if stage is not None and current is not None:
            current.stage = stage

    def _judge(
        self,
        line: int,
        text: str,
        matches: tuple[tuple[Rule, re.Match[str]], ...],
        rank: str,
        scene: Scene,
        current: Incident | None,
        *,
        source: bool,
    ) -> None:
        here = self._scene(text, scene, current)
        source = source and text.startswith("    ")
        for rule, match in matches:
            if not rule.fits(here) or (source and rule.tier is Tier.CAUSE):
                continue
            suspect = Suspect(
                rule,
                rule.tier,
                line,
                text,
                match,
                here,
                current.start if current else line,
                current.rank if current else rank,
                current.framed if current else False,
            )
            if rule.last:
                self.last = suspect
                continue
            self.counts[rule.name] = self.counts.get(rule.name, 0) + 1
            if (rule.name, here.serving) not in self._known:
                self._known.add((rule.name, here.serving))
                self.found.append(suspect)

    def _scene(self, text: str, scene: Scene, current: Incident | None) -> Scene:
        stage = current.stage if current else scene.stage
        tags = set(current.tags) if current else set(self._tags)
        tags |= scene.tags
        if _CAPTURE.search(text):
            stage = Stage.CAPTURE
        if _PREFILL.search(text) and stage is Stage.CAPTURE:
            tags.add("prefill")
        return Scene(stage, frozenset(tags), scene.arguments, scene.serving)

    def unended(self) -> list[Suspect]:
        """Return framed failures whose exception is not (or not yet) there: the log was cut."""
        return [
            Suspect(
                None,
                Tier.GENERIC,
                one.start,
                _OPENS,
                None,
                Scene(one.stage, frozenset(one.tags), serving=one.stage is Stage.SERVING),
                one.start,
                one.rank,
                framed=True,
            )
            for one in self._open
            if one.framed
        ]

    def _bare(self, line: int, text: str, scene: Scene, *, echo: bool) -> None:
        current = self._open.pop()
        self._closed = current
        here = self._scene(text, scene, current)
        bare = [one for one in self.found if one.rule is None]
        if len(bare) < _MANY and not echo and not _LEFT.match(text) and not BENIGN.search(text):
            self.found.append(
                Suspect(
                    None,
                    Tier.GENERIC,
                    line,
                    text,
                    None,
                    here,
                    current.start,
                    current.rank,
                    current.framed,
                )
            )
