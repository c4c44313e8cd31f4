"""What a server is asked: it always fits, it is long enough, and answers are judged with care."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from relight.core.canary import (
    SHORT,
    TOKENS,
    all_garbage,
    content_of,
    fits,
    long_prompt,
    recognized,
    room_of,
    short_prompts,
)
from relight.core.preset import Canary


@given(st.one_of(st.none(), st.integers(1, 200_000)))
def test_no_prompt_is_ever_too_long(room: int | None) -> None:
    """Counted as one token a character, with the answer and a template, it fits what is known."""
    limit = 2048 if room is None else room
    prompts = [*short_prompts(room), *filter(None, [long_prompt(room)])]
    assert all(len(prompt) + TOKENS + 100 <= limit for prompt in prompts)


def test_a_prompt_of_full_length_has_256_tokens_with_any_tokenizer() -> None:
    """At half a token a character it is more than twice the length at which crashes are known."""
    prompt = long_prompt(4096)
    assert prompt is not None
    assert len(prompt) >= 2 * 512


def test_a_toy_context_is_asked_nothing_long() -> None:
    """Without room there is no longer prompt, and at the end no prompt at all."""
    assert long_prompt(400) is None
    assert short_prompts(400) == SHORT
    assert short_prompts(128) == ()


def test_the_smallest_size_that_is_known_counts() -> None:
    """Flags, the card of the model and the log: whichever is smallest; nonsense is passed over."""
    assert room_of({"context-length": 4096, "max-total-tokens": 2048}, (8192,)) == 2048
    assert room_of({"context-length": "big", "max-total-tokens": True}, (0, -1)) is None
    assert room_of({}, (1024, 512)) == 512


def test_one_loop_is_no_garbage() -> None:
    """A random-weights model may repeat itself once; `!!!!` in every answer is NaN."""
    loop, prose = "!" * 96, "A lamp gives light in the evening, and it stands on the table here."
    assert not all_garbage([loop])
    assert not all_garbage([loop, prose, loop])
    assert all_garbage([loop, loop, loop])
    assert not all_garbage([])


def test_a_known_answer_is_found_in_the_text_first() -> None:
    """Whatever the case; a thought counts only where no text came."""
    known = Canary(ask="capital of France?", match="paris")
    assert recognized(known, "It is\nParis.", "")
    assert recognized(known, "", "surely Paris")
    assert not recognized(known, "London", "Paris?")


def test_a_known_question_must_fit() -> None:
    """Its answer's length counts; with an unknown context it is asked."""
    known = Canary(ask="x" * 100, match="y", max_tokens=100)
    assert fits(known, None)
    assert fits(known, 400)
    assert not fits(known, 300)


def test_a_pattern_that_is_none_is_refused_when_the_preset_is_read() -> None:
    """The fault is found before anything is sent."""
    with pytest.raises(ValidationError, match="no regular expression"):
        Canary(ask="a", match="(")


def test_answers_in_another_shape_are_named() -> None:
    """Content, thought and tokens of a right one; ValueError for anything else."""
    message = {"content": None, "reasoning_content": "hm"}
    answer = {"choices": [{"message": message}], "usage": {"completion_tokens": 3}}
    assert content_of(answer) == ("", "hm", 3)
    assert content_of({"choices": [{"message": {"content": "a"}}]}) == ("a", "", 0)
    wrongs: tuple[Any, ...] = ({}, {"choices": []}, {"choices": [{"message": "text"}]}, [], None)
    for wrong in wrongs:
        with pytest.raises(ValueError, match="expected shape"):
            content_of(wrong)
