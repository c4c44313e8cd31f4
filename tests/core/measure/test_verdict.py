"""The verdict: its order of questions, its answers and its words."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure.comparison import MARGIN, Answer, classify
from relight.core.measure.measurement import GpuLoad, Measurement, Sample
from relight.core.measure.noise import half_width, restart_noise
from relight.core.measure.promotion import decide
from relight.core.measure.verdict import Verdict, judge
from relight.core.preset import Benchmark, Expect


def run(step: float = 50.0, tokens: float = 3.0, prompts: int = 8, **changes: Any) -> Measurement:
    """Return a run of even prompts; `loaded` adds a pass at that speed a stream."""
    loaded = changes.pop("loaded", None)
    samples = [
        Sample(
            prompt=f"p{at}",
            output_tokens=160,
            finish="length",
            step_ms=step * (1 + at % 3 / 1000),
            tokens_per_step=tokens * (1 + at % 2 / 1000),
            rounds=50,
            tok_s=1000 * tokens / step,
            ttft_ms=200.0,
        )
        for at in range(prompts)
    ]
    if loaded:
        samples += [
            Sample(prompt=f"p{at}", concurrency=8, output_tokens=96, tok_s=loaded + at / 100)
            for at in range(prompts)
        ]
    fields: dict[str, Any] = {
        "tool": "probe",
        "tool_version": "1",
        "backend": "chat",
        "prompts_sha256": "abc",
        "subject": {"model": "m", "dtype": "bf16"},
        "samples": tuple(samples),
    }
    return Measurement(**{**fields, **changes})


def test_an_equal_run_is_the_same() -> None:
    """Equal numbers are same, in one sentence that gives both and the interval."""
    found = judge(run(), [run()])
    assert found.answer is Answer.SAME
    assert found.sentence.startswith("same as the known-good: step time 50.0 ms against 50.0 ms")
    assert "assumed: this host has not shown its own yet" in found.reasons[0]


def test_slower_rounds_are_worse_and_faster_ones_better() -> None:
    """A change of 15 % of the step time is found both ways, signed so that + is better."""
    slow, fast = judge(run(step=57.5), [run()]), judge(run(step=43.5), [run()])
    assert slow.answer is Answer.WORSE
    assert slow.rows[0].change < -0.1
    assert fast.answer is Answer.BETTER
    assert fast.rows[0].change > 0.1


def test_fewer_accepted_tokens_are_worse_though_rounds_are_as_fast() -> None:
    """With unchanged draft settings a fall of tokens per round counts, and is told apart."""
    found = judge(run(tokens=2.5), [run()])
    assert found.answer is Answer.WORSE
    assert "tokens per step" in found.sentence
    assert any("the text or the numerics moved" in text for text in found.reasons)


def test_with_other_draft_settings_the_stream_s_speed_decides() -> None:
    """Slower rounds that bring more tokens are better when the drafts were changed for it."""
    new = run(step=55.0, tokens=4.2, speculation={"speculative-num-steps": "5"})
    old = run(speculation={"speculative-num-steps": "3"})
    found = judge(new, [old])
    assert found.answer is Answer.BETTER
    assert [row.metric for row in found.rows if row.decides] == ["tok_s"]


def test_a_loss_under_load_alone_is_worse() -> None:
    """One stream as before, eight streams slower: worse."""
    found = judge(run(loaded=30.0), [run(loaded=40.0)])
    assert found.answer is Answer.WORSE
    assert "loaded" in found.sentence


def test_the_tail_of_the_loaded_pass_is_no_unsteady_host() -> None:
    """14 requests, 8 at once: the last six run beside fewer, in each run alike."""
    now, then = run(step=57.5), run()

    def with_tail(one: Measurement) -> Measurement:
        pace = [30.0] * 8 + [55.0, 60.0, 65.0, 70.0, 75.0, 80.0]
        loaded = [
            Sample(prompt=f"l{at}", concurrency=8, output_tokens=96, tok_s=speed)
            for at, speed in enumerate(pace)
        ]
        return one.model_copy(update={"samples": (*one.samples, *loaded)})

    assert judge(with_tail(then), [with_tail(then)]).answer is Answer.SAME
    assert judge(with_tail(now), [with_tail(then)]).answer is Answer.WORSE


def test_another_load_leaves_one_stream_to_compare_and_says_so() -> None:
    """Fewer requests at once, as a lower limit of the server gives: that pass is not compared."""
    now = run(loaded=60.0)
    fewer = [one.model_copy(update={"concurrency": min(4, one.concurrency)}) for one in now.samples]
    found = judge(now.model_copy(update={"samples": tuple(fewer)}), [run(loaded=40.0)])
    assert found.answer is Answer.SAME
    assert "loaded_tok_s" not in {row.metric for row in found.rows}
    assert "8 requests at once then, 4 now: the loaded pass was not compared" in found.reasons


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tool": "bench_serving"}, "tool: probe then, bench_serving now"),
        ({"tool_version": "2"}, "tool version: 1 then, 2 now"),
        ({"backend": "native"}, "backend"),
        ({"prompts_sha256": "other"}, "prompts: abc then, other now"),
        ({"subject": {"model": "m", "dtype": "fp8"}}, "dtype: bf16 then, fp8 now"),
        ({"subject": {"model": "m"}}, "dtype: bf16 then, unset now"),
    ],
)
def test_unlike_runs_are_refused(changes: dict[str, Any], words: str) -> None:
    """Another tool, version, backend, prompts or subject is not comparable, and says why."""
    found = judge(run(**changes), [run()])
    assert found.answer is Answer.NOT_COMPARABLE
    assert words in found.sentence


def test_other_gpus_are_not_comparable() -> None:
    """Numbers of another card are refused."""
    new, old = (GpuLoad(index=0, name=name) for name in ("RTX A6000", "RTX 3090"))
    found = judge(run(gpus=(new,)), [run(gpus=(old,))])
    assert found.answer is Answer.NOT_COMPARABLE


def test_the_first_run_has_nothing_to_compare_with() -> None:
    """Without a known-good the gates and floors decide, and the verdict says so."""
    assert judge(run(), []).answer is Answer.NOT_COMPARABLE


def test_an_invalid_run_failed_whatever_its_numbers() -> None:
    """A run with an error is a failure before anything is compared."""
    bad = run(samples=(Sample(prompt="p", error="HTTP 500"),))
    found = judge(bad, [run()])
    assert found.answer is Answer.FAILED
    assert "HTTP 500" in found.sentence


def test_live_clients_make_it_inconclusive() -> None:
    """Foreign requests forbid a verdict in either direction."""
    assert judge(run(step=99.0, others=2), [run()]).answer is Answer.INCONCLUSIVE


def test_disturbed_runs_are_no_baseline() -> None:
    """A known-good run beside live clients is left out; with no other it is inconclusive."""
    assert judge(run(), [run(step=99.0, others=2), run()]).answer is Answer.SAME
    assert judge(run(), [run(others=2)]).answer is Answer.INCONCLUSIVE


def test_a_link_that_fell_makes_it_inconclusive() -> None:
    """A slower PCIe link under load than at the known-good's run is told, not judged."""
    now = (GpuLoad(index=0, link_gen=1),)
    then = (GpuLoad(index=0, link_gen=4),)
    found = judge(run(step=60.0, gpus=now), [run(gpus=then)])
    assert found.answer is Answer.INCONCLUSIVE
    assert "Gen1 under load, Gen4 at the known-good's run" in found.sentence


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        (Expect(tok_s=70), "60.0 tok/s, at least 70 asked"),
        (Expect(ttft_ms=100), "200.0 ms to the first token, at most 100 asked"),
        (Expect(accept_len=3.5), "accept length, at least 3.5 asked"),
    ],
)
def test_a_missed_floor_is_a_failure(expect: Expect, words: str) -> None:
    """The preset's floors hold with and without a known-good."""
    for known_good in ([], [run()]):
        found = judge(run(), known_good, expect)
        assert found.answer is Answer.FAILED
        assert words in found.sentence


def test_a_crowded_host_is_not_blamed_on_the_config() -> None:
    """A third slower while something waited for a CPU half of the time proves nothing."""
    crowded = judge(run(step=66.0, cpu_pressure=0.5), [run(cpu_pressure=0.05)])
    assert crowded.answer is Answer.INCONCLUSIVE
    told = "something on the host waited for a CPU 50% of the time now, 5% then"
    assert any(told in text for text in crowded.reasons)
    assert judge(run(step=66.0, cpu_pressure=0.5), [run(cpu_pressure=0.5)]).answer is Answer.WORSE
    assert judge(run(step=150.0, cpu_pressure=0.5), [run()]).answer is Answer.WORSE


def test_what_the_server_itself_waited_goes_before_the_host_s_pressure() -> None:
    """Others that wait for a CPU while the server has one are no excuse for it."""
    then = run(cpu_pressure=0.05, cpu_wait=0.01)
    beside = judge(run(step=66.0, cpu_pressure=0.5, cpu_wait=0.01), [then])
    assert beside.answer is Answer.WORSE
    crowded = judge(run(step=66.0, cpu_pressure=0.5, cpu_wait=0.4), [then])
    assert crowded.answer is Answer.INCONCLUSIVE
    told = "the server waited for a CPU 40% of the time now, 1% then"
    assert any(told in text for text in crowded.reasons)


def test_what_it_is_compared_with_has_its_name() -> None:
    """Two releases of the history: neither need be the known-good."""
    found = judge(run(step=57.5), [run()], than="0001-a")
    assert found.sentence.startswith("worse than 0001-a: ")
    assert "1 start of 0001-a measured" in found.reasons[0]


def test_too_few_common_prompts_are_inconclusive() -> None:
    """Two prompts give no interval: nothing is claimed."""
    assert judge(run(prompts=2), [run(prompts=2)]).answer is Answer.INCONCLUSIVE


def test_a_declared_command_decides_by_its_exit_code() -> None:
    """0 accepts, anything else fails; numbers are not asked for."""
    assert judge(run(samples=(), exit=0), [run()]).answer is Answer.SAME
    assert judge(run(samples=(), exit=3), [run()]).answer is Answer.FAILED


def test_a_verdict_survives_its_record() -> None:
    """Measurement and verdict are stored as JSON and read back equal."""
    one, found = run(), judge(run(), [run()])
    assert Measurement.model_validate_json(one.model_dump_json()) == one
    assert Verdict.model_validate_json(found.model_dump_json()) == found


Policy = Literal["rollback", "keep"]


@pytest.mark.parametrize("policy", ["rollback", "keep"])
@pytest.mark.parametrize("answer", list(Answer))
def test_policy(answer: Answer, policy: Policy) -> None:
    """Failed never promotes; worse and inconclusive follow the preset; the rest promotes."""
    plan = Benchmark(on_worse=policy, on_inconclusive=policy)
    promoted = decide(Verdict(answer=answer, sentence=""), plan).promote
    if answer is Answer.FAILED:
        assert not promoted
    elif answer in (Answer.WORSE, Answer.INCONCLUSIVE):
        assert promoted == (policy == "keep")
    else:
        assert promoted


@given(st.floats(-0.5, 0.5), st.floats(0, 0.5))
def test_an_answer_never_outruns_its_interval(mean: float, width: float) -> None:
    """Different needs an interval beside zero and the margin; the other sign, the other answer."""
    found = classify(mean, width)
    if found in (Answer.BETTER, Answer.WORSE):
        assert abs(mean) > width
        assert abs(mean) >= MARGIN
    swapped = {Answer.BETTER: Answer.WORSE, Answer.WORSE: Answer.BETTER}
    assert classify(-mean, width) is swapped.get(found, found)


@given(st.lists(st.floats(-0.05, 0.05), min_size=2, max_size=12), st.floats(0, 0.2))
def test_noise_grows_with_what_was_seen(seen: list[float], drift: float) -> None:
    """More spread never narrows the noise, and a drift is its floor."""
    calm = restart_noise([[0.0] * len(seen)], drift)
    found = restart_noise([seen], drift)
    assert found.sigma >= calm.sigma - 1e-12
    assert found.sigma >= drift
    assert half_width(0.01, 8, found, 1) >= half_width(0.01, 8, calm, 1) - 1e-12


def test_many_quiet_restarts_narrow_the_assumption() -> None:
    """A host that repeats itself within 0.2 % is trusted more than the assumed 1 %."""
    seen = restart_noise([[0.0, 0.002, -0.002, 0.001, 0.0, 0.002, -0.001, 0.0, 0.001]])
    assert seen.sigma < 0.007
    assert seen.restarts == 8
