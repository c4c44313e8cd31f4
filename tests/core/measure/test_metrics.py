"""Figures of a run, against their definitions."""

from __future__ import annotations

import pytest

from relight.core.measure.measurement import Measurement, Pass, Sample
from relight.core.measure.metrics import STEP, drift, scatter, summarize, tpot


def sample(prompt: str, **changes: float | str | tuple[float, ...]) -> Sample:
    """Return an answered request of 101 tokens in 2.1 s, the first one after 100 ms."""
    fields: dict[str, object] = {
        "prompt": prompt,
        "input_tokens": 50,
        "output_tokens": 101,
        "ttft_ms": 100.0,
        "e2e_ms": 2100.0,
        "tok_s": 50.0,
        "rounds": 40,
        "step_ms": 50.0,
        "tokens_per_step": 2.5,
        "gaps_ms": (50.0, 50.0),
        "gap_tokens": (2, 3),
    }
    return Sample.model_validate({**fields, **changes})


def run(*samples: Sample, passes: tuple[Pass, ...] = ()) -> Measurement:
    """Return a run of these samples."""
    return Measurement(
        tool="probe", tool_version="1", backend="chat", samples=samples, passes=passes
    )


def test_tpot_leaves_the_first_token_out() -> None:
    """(E2E - TTFT) / (tokens - 1): 2000 ms over 100 tokens."""
    assert tpot(sample("p")) == pytest.approx(20.0)
    assert tpot(sample("p", output_tokens=1)) is None


def test_itl_is_a_gap_over_its_tokens_once_for_each() -> None:
    """Gaps of 50 ms with 2 and 3 tokens: 25, 25, 16.7, 16.7, 16.7; the median is 16.7."""
    assert summarize(run(sample("p"))).itl_ms == pytest.approx(50 / 3)


def test_speed_is_the_harmonic_mean() -> None:
    """Requests of equal length at 25 and 75 tok/s come to 37.5, not 50."""
    found = summarize(run(sample("a", tok_s=25.0), sample("b", tok_s=75.0)))
    assert found.tok_s == pytest.approx(37.5)


def test_tokens_per_step_weigh_by_rounds() -> None:
    """Sum of tokens over sum of rounds, not a mean of means."""
    found = summarize(run(sample("a", rounds=10, tokens_per_step=4.0), sample("b", rounds=30)))
    assert found.tokens_per_step == pytest.approx((40 + 75) / 40)


def test_long_prompts_give_prefill_and_their_own_ttft() -> None:
    """4000 tokens before the first one after 2 s are 2000 tok/s; short TTFT stays apart."""
    long = sample("long-ledger", input_tokens=4000, ttft_ms=2000.0)
    found = summarize(run(sample("a"), long))
    assert found.prefill_tok_s == pytest.approx(2000.0)
    assert found.ttft_long_ms == pytest.approx(2000.0)
    assert found.ttft_ms == pytest.approx(100.0)


def test_throughput_is_of_the_most_loaded_pass() -> None:
    """Two passes: the one with more requests at once is the throughput."""
    passes = tuple(
        Pass(concurrency=count, seconds=1.0, output_tokens=count, throughput=float(count))
        for count in (1, 8)
    )
    assert summarize(run(sample("a"), passes=passes)).throughput == 8.0


def test_the_seed_has_a_figure_of_its_own() -> None:
    """The number that operators quote is the seed's alone."""
    assert summarize(run(sample("seed", tok_s=55.0), sample("a"))).seed_tok_s == 55.0


def test_failed_requests_have_no_part_in_figures() -> None:
    """A request with an error counts for the gate, not for the speed."""
    assert summarize(run(sample("a", error="x"))).tok_s is None


def test_an_empty_run_has_no_figures() -> None:
    """Nothing measured is None everywhere, never zero."""
    assert set(summarize(run()).model_dump().values()) == {None}


def test_drift_is_a_shift_beyond_the_scatter() -> None:
    """Halves 10 % apart with little scatter are a drift; alternating values are none."""
    shifted = [
        sample(str(at), step_ms=50.0 + at % 2 / 100 + (5 if at > 3 else 0)) for at in range(8)
    ]
    mixed = [sample(str(at), step_ms=50.0 + at % 2 * 5) for at in range(8)]
    assert drift(run(*shifted), STEP) == pytest.approx(0.0953, abs=0.001)
    assert drift(run(*mixed), STEP) == 0.0


def test_scatter_counts_only_beyond_the_measurement_s_own() -> None:
    """Requests 1 % apart are a steady host; 20 % apart are not, and that is its figure."""
    calm = [sample(str(at), step_ms=50.0 + at % 2 / 2) for at in range(8)]
    wild = [sample(str(at), step_ms=50.0 + at % 2 * 10) for at in range(8)]
    assert scatter(run(*calm)) == 0.0
    assert scatter(run(*wild)) == pytest.approx(0.0975, abs=0.001)
