"""A log is read as it grows: stages, progress, facts and batches, whatever the version prints."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relight.core.startup import Batch, Ending, Progress, ReadyLine, Stage, StageReached
from relight.engines.sglang.reader import SglangReader
from tests.engines.sglang.recorded import DATA, FAILING, HEALTHY, followed, read, text

_GPU = [Stage.RESOLVE, Stage.SPAWN, Stage.DIST, Stage.LOAD, Stage.KVPOOL, Stage.CAPTURE]
_CPU = [Stage.RESOLVE, Stage.SPAWN, Stage.DIST, Stage.LOAD, Stage.KVPOOL]
_UP = [Stage.HTTP, Stage.WARMUP, Stage.READY, Stage.SERVING]


def _log(name: str) -> bytes:
    return (DATA / "healthy" / f"{name}.log").read_bytes()


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        ("0.5.10-cpu-all-endpoints", [*_CPU, *_UP, Stage.SHUTDOWN]),
        ("0.5.10-cpu-tp2", [*_CPU, *_UP, Stage.SHUTDOWN]),
        ("0.5.12-h200-sigterm-inflight", [*_GPU, *_UP, Stage.SHUTDOWN]),
        ("0.5.12-h200-speculative", [*_GPU, *_UP, Stage.SHUTDOWN]),
        ("0.5.15-gpu-made-from-its-formats", [*_GPU, *_UP]),
        ("0.5.23-gpu-made-from-its-formats", [*_GPU, *_UP]),
        ("0.5.23-cpu-all-endpoints", [*_CPU, *_UP, Stage.SHUTDOWN]),
    ],
)
def test_every_stage_is_found_in_its_order(name: str, stages: list[Stage]) -> None:
    """Each version's own words mark the stages; repeats do not turn the order round."""
    reading = read(_log(name))
    first = list(dict.fromkeys(one.stage for one in reading.timeline))
    assert first == [Stage.IMPORT, *stages]
    assert reading.stage is stages[-1]
    assert reading.ready


@pytest.mark.parametrize(
    "name",
    ["0.5.12-h200-speculative", "0.5.15-gpu-made-from-its-formats"],
)
def test_the_draft_models_stages_repeat_and_the_stage_does_not_go_back(name: str) -> None:
    """The draft model loads after the capture: told as an event, while the stage stays."""
    data = _log(name)
    reading, events = followed(data)
    loads = [e for e in events if isinstance(e, StageReached) and e.stage is Stage.LOAD]
    assert len(loads) == 2
    until = data.index(
        b"Load weight begin",
        data.index(b"Capture target")
        if b"Capture target" in data
        else data.index(b"Capture cuda graph end"),
    )
    assert read(data[: until + 200]).stage is Stage.CAPTURE
    assert [one.stage for one in reading.timeline].count(Stage.LOAD) == 2


@pytest.mark.parametrize("path", [*HEALTHY[:4], *FAILING[:3]], ids=lambda path: path.stem)
@given(chunk=st.integers(1, 5000))
@settings(max_examples=3, deadline=None)
def test_where_the_bytes_are_cut_does_not_matter(path: Path, chunk: int) -> None:
    """Chunks of any size give the same events and the same reading."""
    data = path.read_bytes()[:20000]
    whole, events = followed(data)
    cut, pieces = followed(data, chunk=chunk)
    assert cut == whole
    assert pieces == events


@given(data=st.binary(max_size=4000), chunk=st.integers(1, 700))
@settings(max_examples=60, deadline=None)
def test_any_bytes_can_be_read(data: bytes, chunk: int) -> None:
    """Invalid UTF-8, control characters and torn lines raise nothing."""
    for prefix in (b"", b"[2026-09-01 12:00:00 TP0] ", b"Traceback (most recent call last):\n"):
        read(prefix + data, chunk=chunk)


def test_progress_is_told_in_percent_and_once() -> None:
    """Bars of weights and captures become percent, each step once, also glued to a log line."""
    _, events = followed(_log("0.5.15-gpu-made-from-its-formats"))
    told = [(e.stage, e.percent, e.what) for e in events if isinstance(e, Progress)]
    assert (Stage.LOAD, 50.0, "Multi-thread loading shards") in told
    assert (Stage.CAPTURE, 100.0, "Capturing batches") in told
    assert all(one != other for one, other in pairwise(told))


def test_a_line_glued_to_a_bar_is_read() -> None:
    """A logger's line at the end of a tqdm bar counts as a line of its own."""
    reading = read(
        b"\rCapturing batches (bs=1 avail_mem=9.00 GB): 100%|###| 1/1 [00:01<00:00,  1.00it/s]"
        b"[2026-09-01 12:00:00 TP0] The server is fired up and ready to roll!\n"
    )
    assert reading.ready


def test_facts_are_the_models_not_the_drafts() -> None:
    """Facts come by name with their type; the draft model's lines do not hide the model's."""
    facts = read(_log("0.5.12-h200-speculative")).facts
    assert facts["model_class"] == "Qwen3_5ForConditionalGeneration"
    assert facts["kv_tokens"] == 537146
    assert facts["kv_k_gb"] == 16.39
    assert facts["max_running_requests"] == 16
    assert facts["memory_left_gb"] == 12.55
    assert facts["attention_backend"] == "fa3"
    assert facts["mamba_slots"] == 205
    assert facts["seconds_warmup"] == 22
    made = read(_log("0.5.23-gpu-made-from-its-formats")).facts
    assert made["nccl"] == "2.28.9"
    assert "P2P" in str(made["custom_all_reduce_off"])
    assert made["kv_dtype"] == "bfloat16"


def test_batches_are_key_and_value() -> None:
    """Decode lines of all versions give the same keys where they say the same."""
    for name in ("0.5.10-cpu-all-endpoints", "0.5.12-h200-speculative", "0.5.23-cpu-launch"):
        _, events = followed(_log(name))
        decodes = [e.values for e in events if isinstance(e, Batch) and e.phase == "decode"]
        prefills = [e.values for e in events if isinstance(e, Batch) and e.phase == "prefill"]
        assert all({"running_req", "gen_throughput", "queue_req"} <= set(one) for one in decodes)
        assert all({"new_seq", "new_token", "cached_token"} <= set(one) for one in prefills)
        assert prefills
    _, events = followed(_log("0.5.15-gpu-made-from-its-formats"))
    (first, *_) = [e.values for e in events if isinstance(e, Batch) and e.phase == "decode"]
    assert first["accept_len"] == 3.1
    assert first["cuda_graph"] is True


def test_the_arguments_are_kept_without_secrets() -> None:
    """The `server_args=` line of each version gives arguments, and never a key."""
    old = read(_log("0.5.10-cpu-launch")).arguments
    new = read(_log("0.5.23-cpu-launch")).arguments
    assert old["context_length"] == new["context_length"] == 2048
    assert "api_key" not in old
    assert "api_key" not in new


def test_the_ready_line_is_an_event() -> None:
    """The ready line is told, with its number."""
    _, events = followed(_log("0.5.10-cpu-launch"))
    (ready,) = [event for event in events if isinstance(event, ReadyLine)]
    lines = _log("0.5.10-cpu-launch").split(b"\n")
    assert b"fired up" in lines[ready.line - 1]


def test_a_log_of_several_launches_tells_the_last() -> None:
    """Where launches were appended to one file, the last one counts."""
    twice = _log("0.5.10-cpu-launch") + (FAILING[-1].read_bytes())
    reading = read(twice)
    assert reading.diagnosis is not None
    assert reading.diagnosis.failure.value == FAILING[-1].name.split(".")[0]


def test_a_rotated_log_is_read_from_its_middle() -> None:
    """Without its beginning a serving log still tells crashes from start failures."""
    data = text(
        (
            "[2026-09-01 12:00:00 TP0] Decode batch, #running-req: 1, #token: 9, token usage: 0.00",
            "[2026-09-01 12:00:01] Scheduler hit an exception: Traceback (most recent call last):",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        )
    )
    diagnosis = read(data).diagnosis
    assert diagnosis is not None
    assert diagnosis.failure.value == "oom_runtime"


def test_memory_stays_flat() -> None:
    """A long log, a line without an end and a million failures take no more memory."""
    reader = SglangReader()
    block = (DATA / "healthy" / "0.5.12-h200-speculative.log").read_bytes()
    failing = b"".join(path.read_bytes() for path in FAILING[:6])
    for part in (block, failing):
        reader.feed(part)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(40):
            reader.feed(block)
            reader.feed(failing)
            reader.feed(b"x" * 300_000)
            reader.feed(f"\nRuntimeError: boom {number}\n".encode())
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    reader.reading(Ending())
    assert grown < 4_000_000
