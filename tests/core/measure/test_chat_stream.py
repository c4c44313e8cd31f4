"""A streamed answer, read from recorded and hostile lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure.chat_stream import Mark, mark, printable, sample


def event(text: str = "", total: int | None = None, **more: Any) -> str:
    """Return one line of a stream as SGLang sends it."""
    usage = None if total is None else {"prompt_tokens": 12, "completion_tokens": total}
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": more.get("finish")}
    body = {"object": "chat.completion.chunk", "model": "tiny", "choices": [choice], "usage": usage}
    return "data: " + json.dumps(body)


def stream(*lines: str, step: float = 0.02, first: float = 0.1) -> list[Mark]:
    """Return the marks of lines that come every `step` seconds."""
    found = [mark(line, first + at * step) for at, line in enumerate(lines)]
    return [item for item in found if item is not None]


def test_tokens_are_counted_by_the_server_not_by_chunks() -> None:
    """Ten pieces of three tokens are 28 tokens: rounds of 3, 20 ms each, 150 tok/s."""
    lines = [event("abc ", total=1 + 3 * at) for at in range(10)]
    found = sample("p", stream(*lines, event(total=28, finish="length")), most=4)
    assert found.output_tokens == 28
    assert found.tokens_per_step == pytest.approx(3.0)
    assert found.step_ms == pytest.approx(20.0)
    assert found.tok_s == pytest.approx(150.0)
    assert found.ttft_ms == pytest.approx(100.0)
    assert found.finish == "length"
    assert found.input_tokens == 12


def test_a_server_that_counts_only_at_the_end_gives_the_same_tokens_per_round() -> None:
    """Without counts along the way, tokens are spread over the pieces."""
    lines = [event("abc ") for _ in range(41)]
    found = sample("p", stream(*lines, event(total=121, finish="stop")), most=4)
    assert found.tokens_per_step == pytest.approx(3.0)
    assert found.step_ms == pytest.approx(20.0)


def test_reasoning_counts_as_text() -> None:
    """The first token is the first one made, thought or said."""
    line = 'data: {"choices":[{"delta":{"reasoning_content":"hm"}}],"model":"tiny"}'
    assert mark(line, 1.0) == Mark(1.0, text="hm", model="tiny")


@pytest.mark.parametrize("line", ["", ": ping", "event: x", "data: [DONE]"])
def test_lines_that_carry_nothing(line: str) -> None:
    """Blank lines, comments and the end are no marks."""
    assert mark(line, 0.0) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("data: {nonsense", "not JSON"),
        ("data: [1]", "not an object"),
        ('data: {"error": {"message": "no\\u001b[31m room"}}', "no"),
        ('data: {"object": "error", "message": "too long"}', "too long"),
    ],
)
def test_errors_in_a_stream_are_the_sample_s(line: str, words: str) -> None:
    """What the server says wrong becomes the sample's error, without control characters."""
    found = sample("p", stream(event("a", total=1), line), most=1)
    assert words in found.error
    assert found.error.isprintable()


def test_an_answer_without_counts_has_no_tokens() -> None:
    """Text without any count of the server stays at 0 tokens: the gate refuses it."""
    found = sample("p", stream(event("a"), event("b"), event("c")), most=1)
    assert found.output_tokens == 0
    assert found.tok_s is None


def test_an_excerpt_never_moves_the_cursor() -> None:
    """Control characters of a foreign text become blanks."""
    assert printable("a\x1b[2Jb\nc", 10) == "a [2Jb c"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    st.dictionaries(
        st.sampled_from(["choices", "usage", "model", "error", "object", "message"]), JSON
    )
)
def test_any_object_is_read_without_a_crash(body: dict[str, Any]) -> None:
    """Whatever types a host answers with, reading gives a sample."""
    found = mark("data: " + json.dumps(body), 1.0)
    assert found is not None
    assert sample("p", [found], most=1).output_tokens >= 0
