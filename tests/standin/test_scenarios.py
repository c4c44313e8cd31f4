"""Scenarios: every class of failure can be played, each ends as it says, conditions decide."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from relight.standin.scenarios import SCENARIOS
from relight.standin.scenarios.choice import UnknownScenario, holds, read
from relight.standin.scenarios.kinds import HANG, RAISE, REFUSE, STAGES
from tests.deadline import until
from tests.standin.rig import READY, Standin, free_port, run

CLASSES = {
    "cli_args",
    "flag_conflict",
    "spec_config",
    "model_access",
    "model_unsupported",
    "checkpoint_mismatch",
    "env_toolchain",
    "gpu_arch_unsupported",
    "backend_unsupported",
    "oom_weights",
    "oom_pool",
    "oom_graph_capture",
    "oom_runtime",
    "graph_capture",
    "dist_init",
    "p2p_allreduce",
    "startup_stall",
    "host_resources",
    "port_in_use",
    "gpu_unavailable",
    "warmup_failed",
    "runtime_crash",
    "runtime_hang",
    "wrong_output",
    "below_goal",
}
KILLED = -signal.SIGKILL
NEXTN = ("--speculative-algorithm", "NEXTN")
Start = Callable[..., Standin]


def with_act(act: str) -> list[str]:
    """Names of the scenarios that act so."""
    return [name for name, one in SCENARIOS.items() if one.act == act]


def enough(name: str) -> tuple[str, ...]:
    """The flags that a scenario needs to play."""
    needs = {
        "spec_config": NEXTN,
        "rank_echo": ("--tp-size", "2"),
        "nan_logits": ("--kv-cache-dtype", "fp8_e5m2"),
    }
    return needs.get(name, ())


def test_every_class_of_failure_has_a_scenario() -> None:
    """25 classes, none left out, none made up; every stage is one of a start."""
    assert {one.taxonomy for one in SCENARIOS.values()} == CLASSES
    assert {one.stage for one in SCENARIOS.values()} <= set(STAGES)
    assert all(one.summary and "\n" not in one.summary for one in SCENARIOS.values())


def test_an_unknown_scenario_is_answered_with_the_names(pyz: Path) -> None:
    """The error lists all that there are, and nothing starts."""
    result = run(pyz, "--model", "standin", scenario="oom_everything")
    assert result.returncode == 2
    assert all(name in result.stderr for name in SCENARIOS)


@pytest.mark.parametrize(
    "spec",
    ["oom_pool:when=", "oom_pool:sometimes", "oom_pool:first=x", "oom_pool:when=no-such-flag"],
)
def test_a_condition_that_cannot_be_meant_is_refused(pyz: Path, spec: str) -> None:
    """Wrong options are errors, never silently true or false."""
    assert run(pyz, "--model", "standin", scenario=spec).returncode == 2


def test_counting_starts_needs_a_file(pyz: Path) -> None:
    """first=N without RELIGHT_STANDIN_STATE says what is missing."""
    result = run(pyz, "--model", "standin", scenario="oom_pool:first=1")
    assert result.returncode == 2
    assert "RELIGHT_STANDIN_STATE" in result.stderr


@pytest.mark.parametrize("name", with_act(REFUSE))
def test_a_refusal_prints_its_words_and_ends(pyz: Path, name: str) -> None:
    """Before a scheduler exists; a check refuses alike, except where only a start can."""
    scenario = SCENARIOS[name]
    result = run(pyz, "--model", "standin/tiny", scenario=name)
    last = scenario.error.splitlines()[-1].replace("{model}", "standin/tiny")
    assert last.replace("{flag}", "--no-such-flag") in result.stderr
    assert result.returncode == scenario.rc
    assert READY not in result.stderr
    checked = run(pyz, "--check-args", "--model", "standin/tiny", scenario=name)
    assert checked.returncode == (0 if scenario.stage == "spawn" else scenario.rc)


@pytest.mark.parametrize("name", with_act(RAISE))
def test_a_scheduler_that_raises_ends_the_whole_tree(start: Start, name: str) -> None:
    """Its traceback, the sigquit line, then SIGKILL of the own tree; nothing is left."""
    scenario = SCENARIOS[name]
    server = start(*enough(name), scenario=name)
    assert server.ended() == KILLED
    trace = server.log.split("Scheduler hit an exception: Traceback (most recent call last):")[1]
    error = re.split(r"[{\n]", scenario.error)[0]
    assert (error or "Not enough memory. Please try to increase --mem-fraction-static") in trace
    assert "Received sigquit from a child process. It usually means the child failed." in trace
    assert READY not in server.log
    assert "{" not in trace.split("Received sigquit")[0]
    until(lambda: not server.children(), 3, "the end of all children")


def test_hangs_say_nothing_more(start: Start) -> None:
    """Each stays silent in its own stage, and still ends at SIGTERM, as a start does."""
    servers = {name: start(scenario=name) for name in with_act(HANG)}
    last = {
        "dist_timeout": "Init torch distributed begin.",
        "p2p_hang": "Init torch distributed begin.",
        "startup_stall": "Load weight begin.",
        "download_stall": "Using model weights format",
        "capture_hang": "Capture cuda graph bs",
    }
    assert last.keys() == servers.keys()
    for name, server in servers.items():
        server.says(last[name])
        assert server.messages[-1].startswith(last[name])
        assert server.process.poll() is None
        server.process.terminate()
        assert server.ended() == -signal.SIGTERM


def test_a_killed_scheduler_is_reported_by_its_parent(start: Start) -> None:
    """host_oom_kill: no traceback of the scheduler, the parent's advice, rc 1."""
    server = start(scenario="host_oom_kill")
    assert server.ended() == 1
    assert "Rank 0 scheduler died during initialization (exit code: -9)." in server.log


def test_a_slow_start_takes_ten_times_as_long_and_is_ready(start: Start) -> None:
    """slow_start: a line that says so, then all is well."""
    server = start(scenario="slow_start", speed="0.15").ready()
    assert "Entering DeepGEMM JIT Pre-Compile session." in server.log
    assert server.words("What is 2+2?") == "4"


def test_port_scenarios_need_no_other_server(start: Start) -> None:
    """port_in_use never ends; ready_line_lies says the ready line and ends with 3."""
    silent, liar = start(scenario="port_in_use"), start(scenario="ready_line_lies")
    assert liar.ready().ended() == 3
    silent.says("INFO:     Waiting for application shutdown.")
    assert silent.process.poll() is None


def test_a_failed_warm_up_ends_the_tree(start: Start) -> None:
    """warmup_failed: the error of the request to itself, then SIGKILL."""
    server = start(scenario="warmup_failed")
    assert server.ended() == KILLED
    assert "Initialization failed. warmup error: Traceback" in server.log
    assert READY not in server.log


def test_an_orphaned_detokenizer_stays(start: Start) -> None:
    """orphan_detokenizer: the main process is gone, one child is not."""
    server = start(scenario="orphan_detokenizer")
    assert server.ended() == KILLED
    server.says("BrokenPipeError")
    until(lambda: "sglang::scheduler" not in server.family(), 5, "the scheduler's end")
    assert "sglang::detokenizer" in server.family()


def test_a_scenario_plays_only_under_its_condition(pyz: Path) -> None:
    """With the flag it strikes, without it all is well; a value is compared."""
    spec = "flag_conflict:when=enable-single-batch-overlap"
    check = ("--check-args", "--model", "standin")
    assert run(pyz, *check, scenario=spec).returncode == 0
    assert run(pyz, *check, "--enable-single-batch-overlap", scenario=spec).returncode == 1
    above = "flag_conflict:when=mem-fraction-static>0.85"
    for fraction, code in (("0.8", 0), ("0.9", 1)):
        arguments = (*check, "--mem-fraction-static", fraction)
        assert run(pyz, *arguments, scenario=above).returncode == code


def test_the_refused_flag_is_the_one_that_the_scenario_is_bound_to(pyz: Path) -> None:
    """cli_args names it as argparse would."""
    arguments = ("--model", "standin", "--enable-single-batch-overlap")
    result = run(pyz, *arguments, scenario="cli_args:when=enable-single-batch-overlap")
    assert "error: unrecognized arguments: --enable-single-batch-overlap" in result.stderr


def test_a_remedy_keeps_a_scenario_away(start: Start) -> None:
    """With the flag that mends it, the same scenario lets the server come up."""
    start("--disable-custom-all-reduce", scenario="p2p_hang").ready()
    start("--disable-cuda-graph", scenario="graph_capture_crash").ready()
    start("--disable-piecewise-cuda-graph", scenario="prefill_graph_crash").ready()
    start(scenario="spec_config").ready()


def test_only_the_first_starts_fail(start: Start, tmp_path: Path) -> None:
    """first=1 counts starts in a file; the second one is well, and checks do not count."""
    variables = {"scenario": "gpu_unavailable:first=1", "state": str(tmp_path / "starts")}
    assert start(**variables).ended() == KILLED
    start(**variables).ready()
    assert (tmp_path / "starts").read_text(encoding="utf-8") == "2"


def test_two_scenarios_bracket_a_value(start: Start) -> None:
    """Too small and too large both fail, each with its own error."""
    spec = "oom_pool:when=mem-fraction-static<0.8,oom_capture:when=mem-fraction-static>0.9"
    small = start("--mem-fraction-static", "0.7", scenario=spec)
    large = start("--mem-fraction-static", "0.95", scenario=spec)
    start("--mem-fraction-static", "0.85", scenario=spec).ready()
    assert small.ended() == large.ended() == KILLED
    assert "Current value: mem_fraction_static=0.7" in small.log
    assert "Capture cuda graph failed: CUDA out of memory." in large.log


def test_what_cannot_fit_fails_without_a_scenario(start: Start) -> None:
    """Weights larger than the GPU, no room for the pool, heads that do not divide, a lone node."""
    port = free_port()
    weights = start("--model-path", "standin/huge-200b", port=port)
    pool = start("--mem-fraction-static", "0.00001")
    heads = start("--tp-size", "3")
    node = start("--nnodes", "2", "--dist-init-addr", "127.0.0.1:1")
    for server, words in ((weights, "CUDA out of memory"), (pool, "Not enough memory")):
        assert server.ended() == KILLED
        assert words in server.log
    assert heads.ended() == KILLED
    node.says("Init torch distributed begin.")
    assert node.process.poll() is None


def test_the_listing_is_data(pyz: Path) -> None:
    """`--print-scenarios` gives name, class and summary as JSON."""
    listed = json.loads(run(pyz, "--print-scenarios").stdout)
    assert listed == {name: [one.taxonomy, one.summary] for name, one in SCENARIOS.items()}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("tp-size", True),
        ("tp-size>1", True),
        ("tp-size>=3", False),
        ("tp-size!=2", False),
        ("dtype=half", True),
        ("dtype>3", False),
        ("host", False),
        ("enable-metrics", False),
    ],
)
def test_conditions_are_held_against_the_flags(condition: str, expected: bool) -> None:  # noqa: FBT001
    """Given, equal, greater, smaller; text is never greater than a number."""
    values = {"tp_size": 2, "dtype": "half", "host": "h", "enable_metrics": False}
    given = frozenset({"tp_size", "dtype", "enable_metrics"})
    assert holds(condition, values, given) is expected


def test_the_names_are_in_the_error() -> None:
    """A wrong name raises with the names that there are."""
    with pytest.raises(UnknownScenario, match="crash_after_ready, crash_on_concurrency"):
        read("crash")
