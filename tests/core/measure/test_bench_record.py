"""What bench_serving wrote, in two versions, against a server of 20 ms and 2.7 tokens a round."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure.bench_record import dataset, order, progress, read

DATA = Path(__file__).parents[2] / "data" / "bench"
VERSIONS = ("0.5.10", "0.5.23")
NAMES = ("seed", "rivers", "long-words")


def record(version: str = "0.5.10", **changes: Any) -> str:
    """Return the recorded line of a version, with some keys changed."""
    found = json.loads((DATA / f"{version}.jsonl").read_text())
    return json.dumps({**found, **changes}) + "\n"


@pytest.mark.parametrize("version", VERSIONS)
def test_rounds_come_back_from_either_version(version: str) -> None:
    """20 ms and 2.7 tokens a round within 2 %, for each of three prompts."""
    samples, part = read(record(version), order(NAMES), 1, 4)
    for one in samples:
        assert one.step_ms == pytest.approx(20.0, rel=0.02)
        assert one.tokens_per_step == pytest.approx(2.7, rel=0.02)
        assert one.output_tokens == 64
        assert not one.error
    assert part.output_tokens == 192
    assert part.seconds == pytest.approx(1.5, abs=0.2)


@pytest.mark.parametrize("version", VERSIONS)
def test_prompts_keep_their_names_through_the_tool_s_shuffle(version: str) -> None:
    """The longest prompt has the most input tokens: the order is the tool's own."""
    samples, _ = read(record(version), order(NAMES), 1, 4)
    by_tokens = sorted(samples, key=lambda one: one.input_tokens or 0)
    assert [one.prompt for one in by_tokens] == ["rivers", "seed", "long-words"]


def test_under_load_no_rounds_are_claimed() -> None:
    """With several requests at once gaps are not rounds; the speed of a stream is kept."""
    samples, _ = read(record(), order(NAMES), 8, 4)
    assert all(one.step_ms is None and one.tok_s for one in samples)


def test_an_error_of_one_request_is_its_own() -> None:
    """The last line of a traceback becomes the sample's error, the others stay good."""
    errors = ["", "Traceback\n  File\nConnectionResetError: gone\x1b[0m", ""]
    samples, _ = read(record(errors=errors), order(NAMES), 1, 4)
    assert [bool(one.error) for one in samples] == [False, True, False]
    assert samples[1].error.startswith("ConnectionResetError: gone")
    assert samples[1].error.isprintable()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds 0 runs"),
        (record() * 2, "holds 2 runs"),
        ("nonsense\n", "not JSON"),
        ("[1]\n", "not an object"),
        (record(itls=None), "no itls for each of 3 prompts"),
        (record(output_lens=[1]), "no output_lens for each of 3 prompts"),
    ],
)
def test_a_result_that_is_none_is_told_in_words(text: str, words: str) -> None:
    """Missing details, an appended file and nonsense are errors that say so."""
    with pytest.raises(ValueError, match=words):
        read(text, order(NAMES), 1, 4)


@pytest.mark.parametrize("version", VERSIONS)
def test_progress_is_read_from_the_bar(version: str) -> None:
    """The last state of the recorded bar is 3 of 3; without a bar it is unknown."""
    assert progress((DATA / f"{version}.out").read_text(), 3) == 3
    assert progress("Starting warmup with 2 sequences...", 3) == 0


def test_a_bar_of_another_length_is_no_progress() -> None:
    """Loading shards of a tokenizer draws a bar too."""
    assert progress(" 50%|## | 2/4 [00:01<00:01]", 8) == 0
    assert progress("4/4 [00:01<00:00]\r 25%|## | 2/8 [00:01<00:01]", 8) == 2


def test_a_dataset_has_two_turns_a_line() -> None:
    """The tool skips conversations of one turn; ours has two, and the text as it is."""
    lines = dataset(['say "hi"\nnow', "b"]).splitlines()
    assert len(lines) == 2
    turns = json.loads(lines[0])["conversations"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"]
    assert turns[0]["content"] == 'say "hi"\nnow'


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(JSON, min_size=3, max_size=3), st.lists(JSON, min_size=3, max_size=3), JSON)
def test_values_of_any_type_are_survived(one: list[Any], two: list[Any], three: Any) -> None:
    """Whatever stands in the lists, reading gives three samples."""
    text = record(itls=one, ttfts=two, errors=two, generated_texts=one, duration=three)
    samples, _ = read(text, order(NAMES), 1, 4)
    assert len(samples) == 3
