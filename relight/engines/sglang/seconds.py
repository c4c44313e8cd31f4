"""How long each stage of a start took, by the log's own clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from relight.core.startup import Stage, StageReached

_FORMAT = "%Y-%m-%d %H:%M:%S"
_START = (
    Stage.RESOLVE,
    Stage.SPAWN,
    Stage.DIST,
    Stage.LOAD,
    Stage.KVPOOL,
    Stage.CAPTURE,
    Stage.HTTP,
    Stage.WARMUP,
)


def seconds_of(timeline: Sequence[StageReached]) -> dict[str, float]:
    """Return `seconds_STAGE` for every stage of the start that another one followed.

    Repeats (the draft model's) are added up; the log's clock has whole seconds.
    """
    spent: dict[str, float] = {}
    known = [(one.stage, at) for one in timeline if (at := _at(one.at)) is not None]
    for (stage, start), (_, end) in pairwise(known):
        if stage in _START:
            name = f"seconds_{stage.value}"
            spent[name] = spent.get(name, 0.0) + max((end - start).total_seconds(), 0.0)
    return spent


def _at(text: str | None) -> datetime | None:
    try:
        return datetime.strptime(text or "", _FORMAT)  # noqa: DTZ007 - only differences count
    except ValueError:
        return None
