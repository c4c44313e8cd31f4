"""Scenarios of a server that comes up and misbehaves: crashes, hangs, nonsense, slow ends."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable

import pytest

from relight.standin.scenarios import SCENARIOS
from tests.deadline import until
from tests.standin.rig import READY, Standin

KILLED = -signal.SIGKILL
NEXTN = ("--speculative-algorithm", "NEXTN")
LONG = "word " * 300
Start = Callable[..., Standin]


def cut(server: Standin, words: str) -> None:
    """Ask, and expect to be cut off."""
    with pytest.raises((ConnectionError, OSError)):
        server.chat(words, max_tokens=20)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("runtime_crash", "hi"),
        ("crash_on_long_prompt", LONG),
        ("oom_runtime", LONG),
        ("watchdog_timeout:after=0.2", "hi"),
    ],
)
def test_a_request_sets_off_a_crash(start: Start, name: str, words: str) -> None:
    """Ready, health 200, then a request cuts it off; a harmless one does not."""
    server = start(scenario=name).ready()
    assert server.get("/health")[0] == 200
    if words == LONG:
        assert server.words("What is 2+2?") == "4"
    cut(server, words)
    assert server.ended() == KILLED
    assert SCENARIOS[name.split(":", maxsplit=1)[0]].error.splitlines()[0] in server.log


def test_two_at_once_set_off_a_crash(start: Start) -> None:
    """crash_on_concurrency: one after the other is well, together is not."""
    server = start(scenario="crash_on_concurrency", step_ms="20").ready()
    for _ in range(2):
        assert server.words("What is 2+2?") == "4"
    with server.open_stream("Tell me of rivers", max_tokens=500):
        cut(server, "hi")
    assert server.ended() == KILLED


def test_crashes_that_nobody_asked_for(start: Start) -> None:
    """crash_after_ready comes by itself; crash_within_settle after the last answer."""
    unasked = start(scenario="crash_after_ready:after=0.2")
    settling = start(scenario="crash_within_settle:after=0.4").ready()
    assert settling.words("What is 2+2?") == "4"
    assert settling.ended() == KILLED
    assert "memory leak detected!" in settling.log
    assert unasked.ended() == KILLED
    assert READY in unasked.log


def test_a_hang_in_serving_shows_only_in_requests(start: Start) -> None:
    """hang_serving: health is 200, and a chat is never answered."""
    server = start(scenario="hang_serving").ready()
    assert server.get("/health")[0] == 200
    with pytest.raises(TimeoutError):
        server.post("/v1/chat/completions", {"messages": []}, timeout=0.5)
    assert server.get("/health")[0] == 200


def test_a_scheduler_hang_shows_in_health(start: Start) -> None:
    """scheduler_hang: the ready line is there, health 503, the model list 200."""
    server = start(scenario="scheduler_hang").ready()
    assert server.get("/health")[0] == 503
    assert server.get("/v1/models")[0] == 200


def test_wrong_answers_come_with_200(start: Start) -> None:
    """garbage, wrong_output, empty_answers, wrong_model, nan_logits: each in its own way."""
    garbage = start(scenario="garbage").ready()
    assert garbage.words("What is 2+2?", max_tokens=8) == "!"
    assert garbage.words("Tell me of rivers", max_tokens=8) == "!" * 8
    assert start(scenario="empty_answers").ready().words("What is 2+2?") == ""
    assert start(scenario="wrong_output").ready().words("What is 2+2?") != "4"
    other = start(scenario="wrong_model").ready()
    assert other.get("/v1/models")[1]["data"][0]["id"] == "somebody-elses-model"
    nan = start("--kv-cache-dtype", "fp8_e5m2", scenario="nan_logits").ready()
    assert nan.words("What is 2+2?") != "4"
    assert "NaN in the logits" in nan.log


def test_slowness_shows_in_the_decode_lines(start: Start) -> None:
    """below_goal: accept length 1.00 and no graph; retraction: its line."""
    server = start(*NEXTN, scenario="below_goal", step_ms="1").ready()
    server.chat("Tell me of rivers", max_tokens=60, ignore_eos=True)
    assert re.search(r"accept len: 1\.00, .*cuda graph: False", server.log)
    full = start(scenario="retraction", step_ms="1").ready()
    full.chat("Tell me of rivers", max_tokens=60, ignore_eos=True)
    assert "KV cache pool is full. Retract requests." in full.log


def test_ends_that_do_not_come(start: Start) -> None:
    """drain_never_ends ends at SIGINT; stop_ignored only at SIGKILL."""
    drain = start(scenario="drain_never_ends", sglang_version="0.5.23").ready()
    deaf = start(scenario="stop_ignored").ready()
    drain.process.terminate()
    for number in (signal.SIGTERM, signal.SIGINT):
        deaf.process.send_signal(number)
    until(lambda: drain.log.count("Remaining number of requests 1.") > 3, 5, "a drain")
    drain.process.send_signal(signal.SIGINT)
    assert drain.ended() == 0
    assert deaf.get("/health")[0] == 200


def test_a_slow_drain_takes_its_time(start: Start) -> None:
    """slow_drain: gone only so many seconds after the drain."""
    server = start(scenario="slow_drain:after=0.8").ready()
    server.process.terminate()
    server.says("Remaining number of requests 0.")
    with pytest.raises(TimeoutError):
        server.ended(0.4)
    assert server.ended() == KILLED
