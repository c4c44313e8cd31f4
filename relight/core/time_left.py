"""How long a start still takes, from how long the last ones took: an estimate, never a limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from pydantic import ValidationError

from relight.core.model import Frozen

_NEWEST = 5
_MOST = 40


class Segment(Frozen):
    """One stretch of a start: a stage (it may come again, for a draft model) and its seconds."""

    stage: str
    seconds: float


class Start(Frozen):
    """One start that became ready, as it was watched; `stop` is what stopping the old one took.

    `segments` are in the order in which they came, from the launch to the end of the proof.
    """

    at: str
    release: str
    preset: str
    model: str
    segments: tuple[Segment, ...]
    stop: float = 0.0


class Starts(Frozen):
    """What a host keeps of a service's starts, oldest first."""

    starts: tuple[Start, ...] = ()

    def with_start(self, start: Start) -> Starts:
        """Return them with one more; of each preset and model only the newest stay."""
        same = [one for one in self.starts if _same(one, start)]
        gone = same[: max(0, len(same) + 1 - _NEWEST)]
        rest = [one for one in self.starts if one not in gone]
        return Starts(starts=(*rest, start)[-_MOST:])

    def like(self, preset: str, model: str) -> tuple[Start, ...]:
        """Return the newest starts of a preset and model; without any, those of the model."""
        of_model = [one for one in self.starts if one.model == model]
        exact = [one for one in of_model if one.preset == preset]
        return tuple((exact or of_model)[-_NEWEST:])


def read_starts(text: str) -> Starts:
    """Return what a host kept; none when it cannot be read."""
    try:
        return Starts.model_validate_json(text)
    except ValidationError:
        return Starts()


def downtime(past: Sequence[Start]) -> float | None:
    """Return the seconds without a server that the next switch may take; None without a past."""
    if not past:
        return None
    took = median(sum(one.seconds for one in start.segments) for start in past)
    stops = [start.stop for start in past if start.stop > 0]
    return took + (median(stops) if stops else 0.0)


def time_left(
    past: Sequence[Start], walked: Sequence[Segment], percent: float | None = None
) -> float | None:
    """Return the seconds until the start is proved; None when no start is known.

    `walked` are this start's segments, the last one still under way; `percent` is how far that one
    says it is. The order is the newest start's, the seconds are medians over all of `past`.
    """
    if not past or not any(start.segments for start in past):
        return None
    newest = next(start for start in reversed(past) if start.segments)
    order = _keys(newest.segments)
    expected = {key: _median(past, key) for key in order}
    place, here = _place(order, _keys(walked))
    if place is None:
        spent = sum(one.seconds for one in walked)
        return max(0.0, sum(expected.values()) - spent)
    later = sum(expected[key] for key in order[place + 1 :])
    return later + (_rest(expected[order[place]], walked[-1].seconds, percent) if here else 0.0)


@dataclass
class Pace:
    """A start's own clock: told of every stage as it comes, it says what is left.

    Times are seconds of one monotonic clock.
    """

    past: tuple[Start, ...] = ()
    _done: list[Segment] = field(default_factory=list)
    _stage: str = ""
    _since: float = 0.0

    def enter(self, stage: str, now: float) -> None:
        """Begin a stage; the one under way goes on when it is named again."""
        if stage == self._stage:
            return
        self._done = self.segments(now)
        self._stage, self._since = stage, now

    def segments(self, now: float) -> list[Segment]:
        """Return the stretches so far, the one under way last."""
        if not self._stage:
            return list(self._done)
        seconds = round(max(0.0, now - self._since), 2)
        return [*self._done, Segment(stage=self._stage, seconds=seconds)]

    def left(self, now: float, percent: float | None = None) -> float | None:
        """Return the seconds that are left, as far as earlier starts tell."""
        return time_left(self.past, self.segments(now), percent)


def _rest(expected: float, spent: float, percent: float | None) -> float:
    """Return what is left of a stage: when it takes longer than ever, its own progress tells."""
    if spent < expected or not percent:
        return max(0.0, expected - spent)
    return spent * max(0.0, 100.0 - percent) / percent


Key = tuple[str, int]


def _keys(segments: Iterable[Segment]) -> list[Key]:
    """Return each segment's stage with the number of its repeat."""
    seen: dict[str, int] = {}
    keys = []
    for one in segments:
        seen[one.stage] = seen.get(one.stage, 0) + 1
        keys.append((one.stage, seen[one.stage]))
    return keys


def _place(order: Sequence[Key], walked: Sequence[Key]) -> tuple[int | None, bool]:
    """Return how far the walk is in an order, and whether the stage under way is part of it."""
    for key in reversed(walked):
        if key in order:
            return order.index(key), key == walked[-1]
    return None, False


def _median(past: Sequence[Start], key: Key) -> float:
    found = [
        one.seconds
        for start in past
        for name, one in zip(_keys(start.segments), start.segments, strict=True)
        if name == key
    ]
    return median(found)


def _same(one: Start, other: Start) -> bool:
    return (one.preset, one.model) == (other.preset, other.model)
