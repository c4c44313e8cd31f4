"""Remedies point the right way: what to drop, set, raise or lower, and who may do it."""

from __future__ import annotations

import pytest

from relight.core.failure import Diagnosis, Remedy
from tests.engines.sglang.recorded import Case, cases, read, text

PUBLIC = {case.id: case for case in cases("failures.jsonl", "log", "source-format")}
FRACTION = "mem-fraction-static"


def _diagnosis(case: Case) -> Diagnosis:
    diagnosis = read(text(case.lines), case.ending()).diagnosis
    assert diagnosis is not None
    return diagnosis


def _right(kind: str, remedy: Remedy) -> bool:
    """Whether a remedy goes the way that the thread's answer went."""
    return {
        "bracket_mem_fraction": FRACTION in remedy.raise_ and FRACTION not in remedy.lower,
        "lower_mem_fraction_then_graph_bs": FRACTION in remedy.lower,
        "lower_concurrency": "max-running-requests" in remedy.lower,
        "lower_hicache": "hicache-size" in remedy.lower,
        "disable_prefill_graph": bool(
            {"disable-piecewise-cuda-graph", "cuda-graph-backend-prefill"} & set(remedy.set)
        ),
        "disable_graph": bool(
            {"disable-cuda-graph", "disable-decode-cuda-graph"} & set(remedy.set)
        ),
        "drop_flag": bool(remedy.drop),
        "map_flag": bool(remedy.rename or remedy.set),
        "respell_then_drop": bool(remedy.rename),
        "add_flag": bool(remedy.set),
        "change_flag": bool(remedy.set or remedy.lower),
        "drop_spec": "speculative-algorithm" in remedy.drop,
        "drop_spec_after_n_crashes": "speculative-algorithm" in remedy.drop,
        "add_env": bool(remedy.env),
        "add_env_if_local": bool(remedy.env),
        "ask": remedy.auto == "never",
        "pick_port_if_allowed": remedy.auto == "never",
        "add_ulimit": "ulimit" in remedy.words,
        "clear_jit_cache": "cache" in remedy.words,
        "restart_clean": "start" in remedy.words.lower(),
    }.get(kind, True)


@pytest.mark.parametrize("case", PUBLIC.values(), ids=PUBLIC)
def test_the_remedy_goes_the_threads_way(case: Case) -> None:
    """Wherever a thread's answer is data, the remedy goes the same way."""
    assert _right(case.auto, _diagnosis(case).remedy)


@pytest.mark.parametrize("case", PUBLIC.values(), ids=PUBLIC)
def test_every_failure_says_what_to_do(case: Case) -> None:
    """There is a summary and a word for the person on each of them."""
    diagnosis = _diagnosis(case)
    assert diagnosis.summary
    assert diagnosis.remedy.words


@pytest.mark.parametrize(
    ("id_", "flag"),
    [
        ("sglang-4116", "enable-reasoning"),
        ("sglang-9316", "tool-call-parser"),
        ("src-ambig-0523", "cuda-graph-max-bs"),
        ("sglang-39430", "mamba-radix-cache-strategy"),
        ("minefield-110", "prefill-attention-backend"),
        ("sglang-29149", "enable-deterministic-inference"),
        ("src-mem-0512", FRACTION),
    ],
)
def test_the_flag_concerned_is_named(id_: str, flag: str) -> None:
    """The flag that a failure is about is given without dashes."""
    assert _diagnosis(PUBLIC[id_]).flag == flag


def test_out_of_memory_wants_opposite_things_in_pool_and_capture() -> None:
    """An empty pool wants a larger fraction, a capture without room a smaller one."""
    pool = _diagnosis(PUBLIC["src-mem-0512"]).remedy
    capture = _diagnosis(PUBLIC["sglang-5285"]).remedy
    assert FRACTION in pool.raise_
    assert FRACTION not in pool.lower
    assert FRACTION in capture.lower
    assert FRACTION not in capture.raise_


def test_names_of_graph_flags_follow_the_version() -> None:
    """After a `server_args=` line of 0.5.15 or later, prefill graphs go off by their new flag."""
    failure = "RuntimeError: Capture prefill CUDA graph failed: boom"
    old = read(text((failure,))).diagnosis
    new = read(
        text(
            (
                "[2026-09-01 12:00:00] server_args=ServerArgs(cuda_graph_config=Config(bs=1))",
                failure,
            )
        )
    ).diagnosis
    assert old is not None
    assert new is not None
    assert "disable-piecewise-cuda-graph" in old.remedy.set
    assert new.remedy.set == {"cuda-graph-backend-prefill": "disabled"}
