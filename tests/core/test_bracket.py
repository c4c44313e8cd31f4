"""Moving one number: bounded by steps, by its end, and by what failed on the other side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.attempt import Attempt, Failed, Recipe
from relight.core.bracket import adjusted
from relight.core.failure import Diagnosis, FailureClass
from relight.core.flags import FlagValue
from relight.core.preset import Adjust, Preset

POOL, CAPTURE = FailureClass.OOM_POOL, FailureClass.OOM_GRAPH_CAPTURE
FLAG = "mem-fraction-static"


def preset(value: FlagValue, up: float = 0.04, down: float = -0.03) -> Preset:
    """Return a preset with opposite fallbacks on one number."""
    return Preset.model_validate(
        {
            "model": "m",
            "served_name": "m",
            "flags": {FLAG: value},
            "fallbacks": [
                {"on": "oom_pool", "adjust": {FLAG: {"by": up, "to": 40 if up >= 1 else 0.95}}},
                {
                    "on": "oom_graph_capture",
                    "adjust": {FLAG: {"by": down, "to": 1 if down <= -1 else 0.5}},
                },
            ],
        }
    )


def tried(failure: FailureClass, value: FlagValue | None = None) -> Attempt:
    """Return a launch that failed, with the number changed or as in the preset."""
    changes = {} if value is None else {FLAG: value}
    verdict = Failed(diagnosis=Diagnosis(failure=failure))
    return Attempt(recipe=Recipe(changes=changes), verdict=verdict)


@pytest.mark.parametrize("value", ["auto", True, (1, 2)])
def test_what_is_no_number_is_not_moved(value: FlagValue) -> None:
    """A word, a switch or a list has no next value."""
    rule = Adjust(by=0.1, to=1)
    assert adjusted(preset(value), FLAG, rule, [tried(POOL)], POOL) is None


def test_it_stops_after_so_many_times() -> None:
    """The bound counts failures of the class: the first is the reason for the first step."""
    rule = Adjust(by=0.02, to=0.95, times=2)
    launches = [tried(POOL), tried(POOL, 0.82), tried(POOL, 0.84)]
    assert adjusted(preset(0.8), FLAG, rule, launches[:1], POOL) == 0.82
    assert adjusted(preset(0.8), FLAG, rule, launches[:2], POOL) == 0.84
    assert adjusted(preset(0.8), FLAG, rule, launches, POOL) is None


def test_it_never_passes_its_end() -> None:
    """The last step lands on `to`, and there is none after it."""
    rule = Adjust(by=0.04, to=0.85)
    assert adjusted(preset(0.83), FLAG, rule, [tried(POOL)], POOL) == 0.85
    assert adjusted(preset(0.85), FLAG, rule, [tried(POOL)], POOL) is None
    assert adjusted(preset(0.5), FLAG, Adjust(by=-0.1, to=0.5), [tried(CAPTURE)], CAPTURE) is None


def test_between_two_failures_it_takes_the_middle() -> None:
    """Too small at 0.80, out of memory at 0.84: 0.82 is next, whichever failed last."""
    below, above = tried(POOL), tried(CAPTURE, 0.84)
    up, down = Adjust(by=0.04, to=0.95), Adjust(by=-0.04, to=0.5)
    assert adjusted(preset(0.8), FLAG, down, [below, above], CAPTURE) == 0.82
    assert adjusted(preset(0.8), FLAG, up, [above, below], POOL) == 0.82


def test_a_narrow_bracket_ends() -> None:
    """Between 0.80 and 0.81 there is nothing worth a launch."""
    launches = [tried(CAPTURE, 0.81), tried(POOL)]
    assert adjusted(preset(0.8), FLAG, Adjust(by=0.04, to=0.95), launches, POOL) is None


def test_whole_numbers_stay_whole() -> None:
    """A count moves in whole steps, and not onto a value that failed."""
    counted = preset(16, up=8, down=-8)
    rule = Adjust(by=8, to=40)
    assert adjusted(counted, FLAG, rule, [tried(POOL)], POOL) == 24
    assert adjusted(counted, FLAG, rule, [tried(CAPTURE, 20), tried(POOL)], POOL) == 18
    assert adjusted(counted, FLAG, rule, [tried(CAPTURE, 17), tried(POOL)], POOL) is None


@given(st.floats(0.3, 0.9), st.lists(st.booleans(), max_size=12))
def test_values_close_in_and_never_repeat(start: float, answers: list[bool]) -> None:
    """Whatever fails, each value lies strictly between the failures on both sides."""
    start = round(start, 4)
    subject = preset(start)
    rules = {POOL: Adjust(by=0.04, to=0.95, times=10), CAPTURE: Adjust(by=-0.03, to=0.2, times=10)}
    low, high, value = 0.0, 1.0, start
    launches: list[Attempt] = []
    for too_small in answers:
        failure = POOL if too_small else CAPTURE
        launches.append(tried(failure, value))
        low, high = (max(low, value), high) if too_small else (low, min(high, value))
        following = adjusted(subject, FLAG, rules[failure], launches, failure)
        if following is None:
            return
        assert low < following < high
        value = float(following)
