"""Pace: time per round and tokens per round are what the environment says, on average."""

from __future__ import annotations

import re
import statistics
import threading
import time
from collections.abc import Callable

import pytest

from tests.standin.rig import Standin, events

Start = Callable[..., Standin]


def rate(server: Standin, words: str, tokens: int) -> float:
    """Tokens per second of one stream: the slope of tokens over time."""
    times: list[float] = []
    counts: list[int] = []
    with server.open_stream(words, max_tokens=tokens, ignore_eos=True) as response:
        for event in events(response):
            text = event["choices"][0]["delta"].get("content")
            if text:
                times.append(time.monotonic())
                counts.append(len(text.split()) + (counts[-1] if counts else 0))
    assert counts[-1] == tokens
    return statistics.linear_regression(times, counts).slope


@pytest.mark.parametrize(("step_ms", "accept_len"), [("5", "1"), ("10", "2.5"), ("4", "3.2")])
def test_a_benchmark_recovers_the_pace(start: Start, step_ms: str, accept_len: str) -> None:
    """Tokens per second are accept length over step, within 2 %."""
    server = start(step_ms=step_ms, accept_len=accept_len).ready()
    expected = float(accept_len) * 1000 / float(step_ms)
    # 1 + a whole number of rounds, so that the last round is a full one.
    tokens = 1 + int(160 * float(accept_len))
    assert rate(server, "Tell me of rivers", tokens) == pytest.approx(expected, rel=0.02)


def test_several_requests_keep_their_own_pace(start: Start) -> None:
    """With four at once each is as fast as alone, and decode lines add them up."""
    server = start(step_ms="10").ready()
    rates: list[float] = []
    clients = [
        threading.Thread(target=lambda n=n: rates.append(rate(server, f"Story {n}", 161)))
        for n in range(4)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join(20)
    assert rates == pytest.approx([100.0] * 4, rel=0.02)
    seen = re.findall(r"#running-req: 4, .* gen throughput \(token/s\): ([\d.]+)", server.log)
    assert float(seen[-1]) == pytest.approx(400, rel=0.05)


def test_the_accept_length_is_in_the_decode_lines(start: Start) -> None:
    """Every decode line of a speculative server tells it, 3.0 unless chosen otherwise."""
    server = start("--speculative-algorithm", "NEXTN", step_ms="2").ready()
    server.chat("Tell me of rivers", max_tokens=361, ignore_eos=True)
    seen = re.findall(r"accept len: ([\d.]+), accept rate: ([\d.]+)", server.log)
    assert len(seen) >= 2
    assert all(pair == ("3.00", "0.75") for pair in seen)


def test_decode_lines_come_at_the_chosen_interval(start: Start) -> None:
    """One line for each --decode-log-interval steps."""
    server = start("--decode-log-interval", "10", step_ms="1").ready()
    server.chat("Tell me of rivers", max_tokens=101, ignore_eos=True)
    assert server.log.count("Decode batch, ") == 10


def test_requests_above_the_limit_wait(start: Start) -> None:
    """Two slots and three requests: one is queued and answered in the end."""
    server = start("--max-running-requests", "2", step_ms="5").ready()
    done: list[int] = []
    clients = [
        threading.Thread(
            target=lambda n=n: done.append(
                server.chat(f"Story {n}", max_tokens=100)["usage"]["completion_tokens"]
            )
        )
        for n in range(3)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join(20)
    assert done == [100, 100, 100]
    assert "#running-req: 2, " in server.log
    assert "#queue-req: 1" in server.log


def test_slow_is_ten_times_slower(start: Start) -> None:
    """The scenario changes the pace and nothing else."""
    server = start(scenario="slow", step_ms="1").ready()
    assert rate(server, "Tell me of rivers", 61) == pytest.approx(100.0, rel=0.05)
