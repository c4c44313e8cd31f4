"""How a run is sized, and which log lines are its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure.run_plan import answer_tokens, busy_concurrency, cycle, since, takes_long


@pytest.mark.parametrize(
    ("speed", "requests", "most", "expected"),
    [
        (53.0, 8, 512, 165),
        (None, 8, 512, 160),
        (1000.0, 8, 512, 512),
        (1000.0, 8, 2048, 512),
        (1.0, 8, 512, 64),
        (53.0, 8, 32, 32),
        (None, 8, 100, 100),
    ],
)
def test_answers_are_as_long_as_the_time_allows(
    speed: float | None, requests: int, most: int, expected: int
) -> None:
    """About 25 s in all at the known speed, 64 to 512 tokens each, never above the preset."""
    assert answer_tokens(speed, requests, most) == expected


def test_answers_fit_the_context_beside_their_prompts() -> None:
    """A server with 2,048 tokens of context answers prompts of 400 with 512, not more."""
    assert answer_tokens(1000.0, 8, 4096, 2048) == 512
    assert answer_tokens(1000.0, 8, 4096, 800) == 288
    assert answer_tokens(None, 8, 4096, 10) == 1


@pytest.mark.parametrize(("running", "expected"), [(None, 8), (16, 8), (10, 8), (3, 3), (0, 1)])
def test_the_loaded_pass_asks_no_more_than_the_server_takes(
    running: int | None, expected: int
) -> None:
    """Eight requests at once, or as many as run at once if that is less."""
    assert busy_concurrency(running) == expected


def test_long_prompts_need_a_long_context() -> None:
    """An unknown or short context leaves them out."""
    assert takes_long(131072)
    assert not takes_long(2048)
    assert not takes_long(None)


def test_prompts_start_anew_with_their_repeat() -> None:
    """Five of two prompts: the third one is the first again, marked as a repeat."""
    assert cycle(("a", "b"), 5) == (("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2))


@given(
    st.lists(st.integers(), unique=True, max_size=30),
    st.lists(st.integers(), unique=True, max_size=30),
    st.integers(0, 30),
)
def test_new_lines_are_those_after_the_known_ones(old: list[int], new: list[int], cut: int) -> None:
    """However much of the beginning was cut away since, what came after is returned whole."""
    new = [value for value in new if value not in old]
    window = (old + new)[min(cut, len(old)) :]
    found = since(window, old)
    assert found[len(found) - len(new) :] == tuple(new)
    if cut <= max(0, len(old) - 4):
        assert found == tuple(new)
