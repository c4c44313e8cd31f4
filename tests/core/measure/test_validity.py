"""The gate: what is no benchmark, what was only disturbed."""

from __future__ import annotations

from typing import Any

import pytest

from relight.core.measure.degenerate import repeated_share
from relight.core.measure.measurement import GpuLoad, Measurement, Pass, Sample
from relight.core.measure.validity import disturbances, faults, remarks


def good(**changes: Any) -> Sample:
    """Return a sample with nothing wrong, but for the changes."""
    fields: dict[str, Any] = {
        "prompt": "p",
        "output_tokens": 100,
        "input_tokens": 40,
        "finish": "length",
        "model": "m",
        "tok_s": 50.0,
    }
    return Sample(**{**fields, **changes})


def run(*samples: Sample, **changes: Any) -> Measurement:
    """Return a run of these samples."""
    fields: dict[str, Any] = {
        "tool": "probe",
        "tool_version": "1",
        "backend": "chat",
        "expected_model": "m",
        "samples": samples,
    }
    return Measurement(**{**fields, **changes})


def test_a_good_run_has_no_fault() -> None:
    """Answered, counted, right model, fresh prompts: valid."""
    assert faults(run(good(), good(), served_models=("m",))) == ()


BAD = [
    (good(output_tokens=0), "no token came"),
    (good(error="HTTP 500: oops"), "HTTP 500"),
    (good(finish="abort"), "ended with 'abort'"),
    (good(model="other"), "answered by 'other'"),
    (good(cached_tokens=38), "38 of 40 prompt tokens came from the prefix cache"),
]


@pytest.mark.parametrize(("sample", "words"), BAD)
def test_each_fault_is_named(sample: Sample, words: str) -> None:
    """One bad request among good ones makes the run a failure, in words."""
    assert any(words in text for text in faults(run(good(), sample)))


def test_text_without_sense_in_most_answers_is_a_failure() -> None:
    """One loop among good answers is a remark; most of them are a broken model."""
    looped = good(repeated_share=1.0, excerpt="!!!!")
    assert faults(run(good(), good(), looped)) == ()
    assert "1 of 3 answers ended in a loop" in remarks(run(good(), good(), looped))[0]
    assert faults(run(good(), looped, looped))[0].startswith("degenerate text in 2 of 3 answers")


def counted(retokenized: int) -> tuple[Pass, ...]:
    """Return a pass of 100 reported tokens and as many as the text holds."""
    return (Pass(concurrency=1, seconds=2.0, output_tokens=100, retokenized_tokens=retokenized),)


def test_more_tokens_reported_than_the_text_holds_is_a_failure() -> None:
    """A count that is the requested length, not the answer's, is seen; 3 % apart is allowed."""
    found = faults(run(good(), passes=counted(60)))
    assert found[0].startswith("100 tokens were reported, the text holds 60")
    assert faults(run(good(), passes=counted(98))) == ()


def test_no_request_is_a_failure() -> None:
    """An empty run is not a benchmark."""
    assert faults(run()) == ("not one request was sent",)


def test_a_model_that_is_not_served_is_a_failure() -> None:
    """SGLang answers to any name; its list of models says which it has."""
    found = faults(run(good(), served_models=("other",)))
    assert found == ("the server does not serve 'm' but 'other'",)


def test_a_chat_template_in_the_cache_is_no_fault() -> None:
    """A few tokens that every prompt begins with may be cached."""
    assert faults(run(good(cached_tokens=4))) == ()


def test_a_cache_that_only_the_log_tells_of_is_seen() -> None:
    """Servers that report no cached tokens log them: half of all prompts is a failure."""
    assert "(log)" in faults(run(good(), good(), cached_tokens=40))[0]
    assert faults(run(good(), good(), cached_tokens=8)) == ()


def test_a_cache_that_others_use_too_is_a_disturbance_and_no_failure() -> None:
    """Beside live clients the cache is kept, and the log counts their prompts with ours."""
    beside = run(good(cached_tokens=38), good(), cached_tokens=4000, others=3)
    assert faults(beside) == ()
    assert disturbances(beside) == ("3 requests of other clients ran at the same time",)


def test_answers_that_were_read_in_bursts_are_counted() -> None:
    """They came whole, and say nothing of the server's pace."""
    late = good(gaps_ms=(0.1, 0.1, 45.0), gap_tokens=(1, 1, 1), tok_s=None)
    paced = good(gaps_ms=(9.0, 9.0), gap_tokens=(1, 1), tok_s=111.0)
    told = "1 of 2 answers were read in bursts: no pace of theirs"
    assert told in remarks(run(late, paced))


def test_dummy_weights_may_write_nonsense() -> None:
    """Where weights are dummies the text is not judged, and that is said."""
    found = run(good(repeated_share=1.0), passes=counted(60), text_counts=False)
    assert faults(found) == ()
    assert "dummy weights: the text was not judged" in remarks(found)


def test_a_tokenizer_that_does_not_round_trip_is_a_remark() -> None:
    """More tokens in the text than were made is the tokenizer's doing, not a false count."""
    found = run(good(), passes=counted(250))
    assert faults(found) == ()
    assert "does not round-trip" in remarks(found)[0]


def test_live_clients_and_throttling_disturb() -> None:
    """Foreign requests and a hardware slowdown are disturbances; a power cap is not."""
    gpus = (GpuLoad(index=0, throttled=("hw_thermal_slowdown", "sw_power_cap")),)
    found = disturbances(run(good(), others=3, gpus=gpus))
    assert found == (
        "3 requests of other clients ran at the same time",
        "GPU 0 was held back while busy: hw_thermal_slowdown",
    )
    assert disturbances(run(good(), others=0, gpus=(GpuLoad(index=0),))) == ()


@pytest.mark.parametrize("code", [1, 124])
def test_a_declared_command_that_failed_is_a_failure(code: int) -> None:
    """The exit code of a declared command decides alone."""
    assert str(code) in faults(run(exit=code))[0]
    assert faults(run(exit=0)) == ()


@pytest.mark.parametrize(
    "text", ["!" * 300, " w132303" * 40, "the same again, " * 20, "\n\n" * 100]
)
def test_endless_repetition_is_seen(text: str) -> None:
    """One character, word or phrase for ever repeats itself wholly."""
    assert repeated_share(text) > 0.95


@pytest.mark.parametrize(
    "text",
    [
        "def insert(self, key):\n    node = Node(key)\n    parent = None\n    while node:\n",
        "aaaa",
        (
            '{"id": 1, "sold": true}, {"id": 2, "sold": false}, {"id": 3, "sold": true}, '
            '{"id": 14, "sold": false}, {"id": 15, "sold": true}'
        ),
        "| a | b | c |\n|---|---|---|\n| 1 | 22 | 333 |\n| 4 | 5 | 6 |\n| 7 | 8 | 9 |\n",
    ],
)
def test_ordinary_text_is_not_degenerate(text: str) -> None:
    """Code, JSON, tables and short answers stay below the gate."""
    assert repeated_share(text) < 0.9
