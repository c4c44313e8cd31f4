"""Failures get their right name: public ones, recorded ones, and none where nothing failed."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from relight.core.startup import Ending
from relight.engines.sglang.rules import RULES
from tests.engines.sglang.recorded import (
    FAILING,
    HEALTHY,
    Case,
    cases,
    named,
    read,
    text,
)

PUBLIC = cases("failures.jsonl", "log", "source-format")
PHRASES = cases("phrases.jsonl")
# Lines that a healthy server prints and that look like a failure.
HARMLESS = (
    "box:1:1 [0] NCCL INFO NET/Plugin: libnccl-net.so: cannot open shared object file: No file",
    "[2026-09-01 12:00:00 TP0] CustomAllreduce is disabled because it's not supported on it",
    "[2026-09-01 12:00:00] Fail to set RLIMIT_NOFILE: current limit exceeds maximum limit",
    "[2026-09-01 12:00:00] Ignore import error when loading sglang.srt.models.a: undefined symbol",
    "[2026-09-01 12:00:00] Ignoring mcp import error",
    "[2026-09-01 12:00:00] Using FP8 KV cache but no scaling factors provided. Defaulting to 1.0.",
    "[2026-09-01 12:00:00] Endpoint '/get_model_info' is deprecated and will be removed.",
    "[2026-09-01 12:00:00 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 1",
    "[2026-09-01 12:00:00] Entering DeepGEMM JIT Pre-Compile session. It may take a long time",
    '[2026-09-01 12:00:00] INFO:     127.0.0.1:1 - "GET /health HTTP/1.1" 503 Service Unavailable',
    "[2026-09-01 12:00:00] server_args=ServerArgs(model_path='/m/error', load_format='error')",
)


def _name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("judge", ["log alone", "with the process's end"])
def test_public_failures_get_their_class(judge: str) -> None:
    """At least 97 % of the public failures get their class, and no class is under 80 %."""
    right: dict[str, list[bool]] = defaultdict(list)
    wrong: list[str] = []
    for case in PUBLIC:
        got = named(text(case.lines), case.ending() if judge != "log alone" else None)
        right[case.failure].append(got == case.failure)
        if got != case.failure:
            wrong.append(f"{case.id}: {case.failure}, got {got}")
    total = [good for goods in right.values() for good in goods]
    assert len(total) >= 60
    assert sum(total) / len(total) >= 0.97, wrong
    assert all(sum(goods) / len(goods) >= 0.8 for goods in right.values()), wrong


@pytest.mark.parametrize("case", PHRASES, ids=lambda case: f"{case.failure}-{case.id}")
def test_other_words_of_the_same_kind_get_the_class(case: Case) -> None:
    """Rules are for the kind: words of other versions, GPUs and libraries are named as well."""
    assert named(text(case.lines), case.ending()) == case.failure


@pytest.mark.parametrize("path", FAILING, ids=_name)
def test_recorded_failures_get_their_class(path: Path) -> None:
    """Each recorded failure (0.5.10, 0.5.12, 0.5.23) is named, with a line that the log has."""
    data = path.read_bytes()
    reading = read(data)
    assert reading.diagnosis is not None
    assert reading.diagnosis.failure.value == path.name.split(".")[0]
    assert reading.terminal
    evidence = reading.diagnosis.evidence
    assert evidence is not None
    line = data.decode(errors="replace").split("\n")[evidence.line - 1]
    assert evidence.text[:60] in line.replace("\r", " ")


@pytest.mark.parametrize("path", HEALTHY, ids=_name)
def test_healthy_logs_raise_nothing(path: Path) -> None:
    """No healthy log of 0.5.10, 0.5.12, 0.5.15 and 0.5.23 raises a failure."""
    assert read(path.read_bytes()).diagnosis is None


@pytest.mark.parametrize("line", HARMLESS, ids=range(len(HARMLESS)))
@pytest.mark.parametrize("path", HEALTHY, ids=_name)
def test_harmless_lines_raise_nothing(path: Path, line: str) -> None:
    """Lines that only look like a failure say nothing, before and after the server is ready."""
    lines = path.read_bytes().split(b"\n")
    for at in (3, len(lines) // 2, len(lines) - 1):
        noisy = [*lines[:at], line.encode(), *lines[at:]]
        assert read(b"\n".join(noisy)).diagnosis is None


def test_a_port_held_by_another_sglang_is_not_ready() -> None:
    """The ready line after a failed bind is the other server's answer: the port is in use."""
    (path,) = [one for one in FAILING if "held-by-sglang" in one.name]
    reading = read(path.read_bytes(), Ending(state="running"))
    assert reading.ready
    assert reading.terminal
    assert reading.diagnosis is not None
    assert reading.diagnosis.failure.value == "port_in_use"


def test_every_rule_has_a_name_of_its_own() -> None:
    """A rule's name tells one rule."""
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_ready_again_after_a_survived_error_is_healthy() -> None:
    """An error that the server went on from is no failure once the ready line is there."""
    data = text(
        (
            "[2026-09-01 12:00:00] Load weight begin. avail mem=40.00 GB",
            "ImportError: libfoo.so.1: cannot open shared object file: No such file or directory",
            "[2026-09-01 12:00:09] Load weight end. elapsed=3.00 s, type=A, avail mem=20 GB",
            "[2026-09-01 12:00:19] The server is fired up and ready to roll!",
        )
    )
    assert named(data) is None
    assert named(data.split(b"[2026-09-01 12:00:09]")[0]) == "env_toolchain"


def test_errors_after_a_stop_are_no_failure() -> None:
    """What a server prints while somebody stops it is not why it ended."""
    data = text(
        (
            "[2026-09-01 12:00:19] The server is fired up and ready to roll!",
            "[2026-09-01 12:01:19] SIGTERM received. signum=None frame=None. Draining requests",
            "[2026-09-01 12:01:20] Scheduler hit an exception: Traceback (most recent call last):",
            "RuntimeError: CUDA error: an illegal memory access was encountered",
        )
    )
    assert named(data, Ending(state="exited", exit=137)) is None
