"""Time left: what is known of earlier starts, less what this one has done."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.time_left import Pace, Segment, Start, Starts, downtime, read_starts, time_left

STAGES = ("import", "load", "capture", "load", "http", "ready")
segments = st.lists(
    st.builds(Segment, stage=st.sampled_from(STAGES), seconds=st.floats(0, 1000)), max_size=8
)


def start(*seconds: float, preset: str = "p", model: str = "m", stop: float = 0.0) -> Start:
    """Return a start through STAGES with these seconds."""
    walked = tuple(
        Segment(stage=stage, seconds=one) for stage, one in zip(STAGES, seconds, strict=False)
    )
    return Start(at="", release="r", preset=preset, model=model, segments=walked, stop=stop)


PAST = (start(3, 60, 20, 10, 1, 2, stop=4),)


@given(st.lists(segments, max_size=4), segments, st.none() | st.floats(0, 100))
def test_it_is_never_negative_and_absent_only_without_a_past(
    past: list[list[Segment]], walked: list[Segment], percent: float | None
) -> None:
    """Whatever the host kept and whatever this start does: a number of seconds, or nothing."""
    kept = [start().model_copy(update={"segments": tuple(one)}) for one in past]
    left = time_left(kept, walked, percent)
    assert (left is None) == (not any(past))
    assert left is None or left >= 0


@given(st.integers(0, 5), st.floats(0, 1))
def test_a_start_like_the_last_one_has_its_rest_left(place: int, share: float) -> None:
    """At any moment of a start that goes as before, elapsed and left make the whole."""
    whole = PAST[0].segments
    now = whole[place].model_copy(update={"seconds": whole[place].seconds * share})
    walked = (*whole[:place], now)
    left = time_left(PAST, walked)
    assert left == pytest.approx(96 - sum(one.seconds for one in walked))


def test_a_repeat_is_told_from_the_first_time() -> None:
    """Loading the draft model is not loading the model again."""
    walked = PAST[0].segments[:4]
    assert time_left(PAST, walked) == 3


def test_medians_outvote_one_slow_start() -> None:
    """One cold start among three does not make the estimate."""
    past = (start(3, 60), start(3, 600), start(3, 62))
    assert time_left(past, [Segment(stage="import", seconds=3)]) == 62


def test_an_overdue_stage_is_told_by_its_own_progress() -> None:
    """Longer than ever at 50 %: as much again, and what follows."""
    walked = [Segment(stage="import", seconds=3), Segment(stage="load", seconds=100)]
    assert time_left(PAST, walked) == 33
    assert time_left(PAST, walked, 50) == 133


def test_an_unknown_stage_leaves_what_follows_the_last_known_one() -> None:
    """A new version's stage takes nothing from the estimate."""
    walked = [Segment(stage="import", seconds=3), Segment(stage="new", seconds=7)]
    assert time_left(PAST, walked) == 93


def test_downtime_counts_the_stop() -> None:
    """Stop and start, medians of each; starts that stopped nothing say nothing of a stop."""
    assert downtime(()) is None
    assert downtime(PAST) == 100
    assert downtime((*PAST, start(96), start(96))) == 100


def test_only_the_newest_of_each_preset_and_model_stay() -> None:
    """Five of a kind; another preset's are not pushed out."""
    known = Starts().with_start(start(1, preset="other"))
    for number in range(9):
        known = known.with_start(start(number))
    assert [one.segments[0].seconds for one in known.like("p", "m")] == [4, 5, 6, 7, 8]
    assert len(known.like("other", "m")) == 1
    assert len(known.like("unheard", "m")) == 5
    assert known.like("p", "another model") == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"starts": [{"at": 1}]}', "\x00"])
def test_what_cannot_be_read_is_no_past(text: str) -> None:
    """A torn or foreign file gives no estimate and no error."""
    assert read_starts(text) == Starts()


def test_pace_measures_and_estimates_on_one_clock() -> None:
    """Stages as they come; one that is named again goes on."""
    pace = Pace(PAST)
    pace.enter("import", 100.0)
    assert pace.left(101.0) == 95
    pace.enter("load", 103.0)
    pace.enter("load", 110.0)
    assert pace.left(113.0) == 83
    assert [(one.stage, one.seconds) for one in pace.segments(113.0)] == [
        ("import", 3),
        ("load", 10),
    ]
