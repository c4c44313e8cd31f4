"""What a run's own log lines say."""

from __future__ import annotations

from typing import Any

import pytest

from relight.core.measure.decode_lines import beyond_warm_up, graph_note, others, summarize
from relight.core.measure.measurement import Sample
from relight.core.startup import Batch


def decode(**values: Any) -> Batch:
    """Return one decode line."""
    return Batch(phase="decode", values={"running_req": 1, "cuda_graph": True, **values}, line=1)


def test_accept_length_and_step_time() -> None:
    """3 accepted at 150 tok/s are 20 ms a round; the first line after idle is left out."""
    lines = summarize(
        [decode(accept_len=3.0, gen_throughput=9.0)]
        + [decode(accept_len=3.0, gen_throughput=150.0)] * 3,
        1,
    )
    assert lines.accept_len == pytest.approx(3.0)
    assert lines.step_ms == pytest.approx(20.0)


def test_lines_with_other_requests_do_not_count() -> None:
    """A line with another number of running requests gives no figure, but shows the others."""
    lines = summarize([decode(running_req=3, accept_len=2.0, gen_throughput=300.0)] * 3, 1)
    assert lines.accept_len is None
    assert lines.running == 3
    assert others(lines.running, 1) == 2


def test_without_speculation_a_round_is_a_token() -> None:
    """Without an accept length, 50 tok/s are 20 ms."""
    lines = summarize([decode(gen_throughput=50.0)] * 3, 1)
    assert lines.accept_len is None
    assert lines.step_ms == pytest.approx(20.0)


def test_prefill_lines_tell_cached_tokens() -> None:
    """Cached tokens add up over the prefill lines of a run."""
    prefill = Batch(phase="prefill", values={"cached_token": 7}, line=1)
    assert summarize([prefill, prefill], 1).cached_tokens == 14


def test_the_warm_up_of_bench_serving_is_no_cached_prompt() -> None:
    """It sends its first prompt twice; what is cached beyond that is of the run itself."""
    samples = [Sample(prompt="a", input_tokens=100), Sample(prompt="b", input_tokens=900)]
    assert beyond_warm_up(103, samples) == 0
    assert beyond_warm_up(1100, samples) == 900
    assert beyond_warm_up(None, samples) is None
    assert beyond_warm_up(7, []) == 7


def test_decode_without_graphs_is_an_alarm() -> None:
    """Lines with cuda_graph False are counted and told; none of them says nothing."""
    lines = summarize([decode(cuda_graph=False), decode()], 1)
    assert graph_note(lines) == "1 of 2 decode lines ran without CUDA graphs"
    assert graph_note(summarize([decode()], 1)) == ""


@pytest.mark.parametrize(
    ("running", "around", "expected"),
    [(None, (), None), (None, (None, None), None), (1, (), 0), (1, (0, 2), 2), (4, (None,), 3)],
)
def test_others(running: int | None, around: tuple[int | None, ...], expected: int | None) -> None:
    """Foreign requests are the most that a line or a count around the run shows."""
    assert others(running, 1, *around) == expected
