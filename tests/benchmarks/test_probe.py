"""The probe against the stand-in engine: known pace recovered, faults seen."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from relight.benchmarks import load, names
from relight.connections import Connection
from relight.core.measure.comparison import Answer
from relight.core.measure.metrics import summarize
from relight.core.measure.validity import faults
from relight.core.measure.verdict import judge
from relight.core.preset import Benchmark
from tests.benchmarks.conftest import Serve

SHORT = Benchmark(requests=3, max_tokens=192)


def test_tools_are_found_by_name() -> None:
    """Every file is a tool with a name and a version, which a preset may name."""
    for name in names():
        assert name == load(name).NAME
        assert load(name).VERSION
    assert names() == get_args(Benchmark.model_fields["tool"].annotation)
    with pytest.raises(KeyError):
        load("prompts")


@pytest.mark.parametrize(("step_ms", "accept_len"), [("8", "1"), ("20", "2.7"), ("12", "3.35")])
def test_step_time_and_tokens_per_step_are_recovered_apart(
    serve: Serve, here: Connection, step_ms: str, accept_len: str
) -> None:
    """Both come back within 2 %, with one token a round and with several."""
    target = serve(drafts=accept_len != "1", step_ms=step_ms, accept_len=accept_len)
    run = load("probe").measure(target, SHORT, here, lambda _: None)
    assert faults(run) == ()
    found = summarize(run)
    assert found.step_ms == pytest.approx(float(step_ms), rel=0.02)
    assert found.tokens_per_step == pytest.approx(float(accept_len), rel=0.02)
    # tok/s holds every token, the last round too, which the limit of tokens may have cut.
    assert found.tok_s == pytest.approx(1000 * float(accept_len) / float(step_ms), rel=0.04)
    if accept_len != "1":
        assert run.accept_len == pytest.approx(float(accept_len), rel=0.02)
    assert run.others == 0


def test_progress_names_each_request(serve: Serve, here: Connection) -> None:
    """The operator sees every request with its speed, and the seed first."""
    told: list[str] = []
    load("probe").measure(serve(step_ms="2"), SHORT, here, told.append)
    assert any(line.startswith("request 1 of 3 (seed): ") for line in told)
    assert any(line.startswith("request 3 of 3") for line in told)


def test_a_slower_server_is_worse_and_an_equal_one_is_not(serve: Serve, here: Connection) -> None:
    """A second run of the same server is not different; one at half the pace is worse."""
    probe, plan = load("probe"), Benchmark(requests=4, max_tokens=128)
    target, slow = serve(step_ms="10"), serve(step_ms="20")
    first = probe.measure(target, plan, here, lambda _: None)
    again = probe.measure(target, plan, here, lambda _: None)
    slower = probe.measure(slow, plan, here, lambda _: None)
    assert judge(again, [first]).answer in (Answer.SAME, Answer.INCONCLUSIVE)
    assert judge(slower, [first]).answer is Answer.WORSE


def test_a_server_that_writes_one_sign_for_ever_fails(serve: Serve, here: Connection) -> None:
    """What NaN logits decode to is no benchmark, however fast it comes."""
    run = load("probe").measure(serve(step_ms="2", scenario="garbage"), SHORT, here, lambda _: None)
    assert any("degenerate" in text for text in faults(run))


def test_a_server_that_is_gone_fails_in_words(serve: Serve, here: Connection) -> None:
    """No server: every request is an error, the run a failure, and nothing is raised."""
    target = replace(serve(step_ms="2"), base_url="http://127.0.0.1:1")
    run = load("probe").measure(target, SHORT, here, lambda _: None)
    assert len(faults(run)) >= 3
    assert judge(run, []).answer is Answer.FAILED


def test_another_model_fails(serve: Serve, here: Connection) -> None:
    """A name that the server does not serve is a fault, though it answers."""
    target = replace(serve(step_ms="2"), model="someone-else")
    run = load("probe").measure(target, SHORT, here, lambda _: None)
    assert any("does not serve 'someone-else'" in text for text in faults(run))


def test_an_api_key_is_sent_and_never_stored(serve: Serve, here: Connection) -> None:
    """Headers reach the server only; the record does not hold them."""
    target = replace(serve(step_ms="2"), headers={"Authorization": "Bearer s3cr3t-key"})
    run = load("probe").measure(target, SHORT, here, lambda _: None)
    assert faults(run) == ()
    assert "s3cr3t-key" not in run.model_dump_json()
