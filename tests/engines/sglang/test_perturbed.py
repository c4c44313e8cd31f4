"""A failure keeps its name when everything that does not matter is different."""

from __future__ import annotations

import random
import re

import pytest

from tests.engines.sglang.recorded import DATA, Case, cases, named, text

PUBLIC = cases("failures.jsonl", "log", "source-format")
# What another rank prints meanwhile: its own start, and the echo of the first one's death.
OTHERS = (
    "[2026-09-01 12:00:01 TP3] Load weight begin. avail mem=78.00 GB",
    "[2026-09-01 12:00:02 TP3] Load weight end. elapsed=9.00 s, type=A, avail mem=40.00 GB",
    "[2026-09-01 12:00:03 TP3] KV Cache is allocated. #tokens: 100, K size: 1.00 GB",
    "[2026-09-01 12:00:03 TP3] Memory pool end. avail mem=9.00 GB",
    "[2026-09-01 12:00:04 TP3] Using default chat sampling params",
)
ECHO = (
    "[2026-09-01 12:00:05 TP3] Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/opt/x/sglang/srt/managers/scheduler.py", line 99, in run_scheduler_process',
    "    scheduler = Scheduler(server_args)",
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed",
    "",
    "[2026-09-01 12:00:06] Received sigquit from a child process. It usually means it failed.",
)
# A log whose last line decides cannot have another line after it.
LAST = {"vllm-20891", "sglang-14282"}


def _elsewhere(line: str) -> str:
    """The same line with other paths, addresses, ports, sizes, line numbers and times."""
    line = re.sub(r'File "[^"]*/(sglang|torch)/', r'File "/home/u/my env/lib/\1/', line)
    line = re.sub(r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b", "10.9.8.7", line)
    line = re.sub(r"line \d+", "line 4711", line)
    line = re.sub(r"\b(\d+\.\d\d) (GB|MiB|GiB)\b", r"3.17 \2", line)
    return re.sub(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "[2031-12-31 23:59:58", line)


@pytest.mark.parametrize("case", PUBLIC, ids=lambda case: case.id)
def test_other_paths_and_times(case: Case) -> None:
    """Paths, addresses, line numbers, sizes and times do not matter."""
    lines = tuple(_elsewhere(line) for line in case.lines)
    assert named(text(lines), case.ending()) == case.failure


@pytest.mark.parametrize("rank", ["TP1", "DP0 TP2 EP2", "PP1 TP0"])
@pytest.mark.parametrize("case", PUBLIC, ids=lambda case: case.id)
def test_other_ranks_prefix(case: Case, rank: str) -> None:
    """Whichever rank says it, with the logger's prefix or without."""
    stamp = f"[2026-09-01 12:00:00 {rank}] "
    lines = tuple(
        stamp + line if "hit an exception" in line and not line.startswith("[") else line
        for line in case.lines
    )
    assert named(text(lines), case.ending()) == case.failure


@pytest.mark.parametrize("case", PUBLIC, ids=lambda case: case.id)
def test_lines_of_other_ranks_between(case: Case) -> None:
    """A healthy rank's lines in between, and the echo behind, change nothing."""
    rng = random.Random(case.id)  # the same places in each run
    lines: list[str] = []
    for line in case.lines:
        if case.id not in LAST and "%" not in line:
            lines += rng.sample(OTHERS, rng.randint(0, 2))
        lines.append(line)
    if case.terminal == "exit" and case.id not in LAST:
        lines += ECHO
    assert named(text(tuple(lines)), case.ending()) == case.failure


@pytest.mark.parametrize(
    "prefix",
    [
        "sglang-1  | ",
        "2026-09-01T12:00:00.123456789Z ",
        "Sep 01 12:00:00 box sglang[77]: ",
        "\x1b[32m",
    ],
)
@pytest.mark.parametrize("case", PUBLIC, ids=lambda case: case.id)
def test_what_a_collector_puts_before_each_line(case: Case, prefix: str) -> None:
    """Logs come through docker, Kubernetes, journald and terminals as well."""
    lines = tuple(prefix + line for line in case.lines)
    assert named(text(lines), case.ending()) == case.failure


@pytest.mark.parametrize("name", ["oom_pool.0.5.12-h200-fraction-too-small"])
def test_the_cause_comes_before_the_echo(name: str) -> None:
    """The earliest cause over all ranks counts, however many echoes follow."""
    data = (DATA / "failing" / f"{name}.log").read_bytes()
    assert named(data + text(ECHO) * 5) == "oom_pool"
