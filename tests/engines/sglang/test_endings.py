"""Where no line says why, the end of the process does; the same words mean different things."""

from __future__ import annotations

import pytest

from relight.core.startup import Ending
from tests.engines.sglang.recorded import DATA, named, read, text

READY = "[2026-09-01 12:00:19] The server is fired up and ready to roll!"
LOAD = "[2026-09-01 12:00:00] Load weight begin. avail mem=40.00 GB"
DIST = "[2026-09-01 12:00:00] Init torch distributed begin."
CAPTURE = "Capturing batches (bs=160 avail_mem=3.00 GB):   4%|x| 1/23 [00:00<?, ?it/s]"


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        (DIST, "startup_stall"),
        (LOAD, "model_access"),
        (CAPTURE, "graph_capture"),
        ("[2026-09-01 12:00:00] Entering DeepGEMM JIT Pre-Compile session.", "startup_stall"),
        (READY, "runtime_hang"),
    ],
)
def test_a_hang_is_named_by_its_stage(line: str, failure: str) -> None:
    """A start that hangs has no line of its own: the stage names it; running says nothing."""
    assert named(text((line,)), Ending(state="hung")) == failure
    assert named(text((line,)), Ending(state="running")) is None


def test_a_kill_for_memory_is_the_hosts() -> None:
    """With the kernel's proof a silent end is the host's memory; without it nobody knows."""
    data = text((LOAD,))
    assert named(data, Ending(state="exited", exit=137, oom_killed=True)) == "host_resources"
    assert named(data, Ending(state="exited", exit=137)) == "unknown"
    assert named(data) is None


def test_a_clean_stop_is_no_failure() -> None:
    """A stopped server ends in 137 as well: the lines tell, not the code."""
    data = (DATA / "healthy" / "0.5.12-h200-sigterm-inflight.log").read_bytes()
    assert named(data, Ending(state="exited", exit=137)) is None


def test_a_traceback_of_a_request_is_no_failure_of_a_running_server() -> None:
    """While the server runs on, an exception of one request is not its end."""
    data = text((READY, "Traceback (most recent call last):", "ValueError: bad request"))
    assert named(data, Ending(state="running")) is None
    assert named(data, Ending(state="exited", exit=1)) == "runtime_crash"


def test_out_of_memory_is_named_by_where_it_happens() -> None:
    """One message of torch, four classes: the frames and the stage decide."""
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    pools = "[2026-09-01 12:00:01] Load weight end. elapsed=3.00 s, type=A, avail mem=2.00 GB"
    assert named(text((LOAD, oom))) == "oom_weights"
    assert named(text((LOAD, pools, oom))) == "oom_pool"
    assert named(text((LOAD, pools, CAPTURE, oom))) == "oom_graph_capture"
    assert named(text((LOAD, pools, READY, oom))) == "oom_runtime"


def test_a_foreign_holder_of_the_port_is_named() -> None:
    """Who holds the port is told where the log does not say it."""
    diagnosis = read(text((LOAD,)), Ending(state="running", port_holder="nginx (77)")).diagnosis
    assert diagnosis is not None
    assert diagnosis.failure.value == "port_in_use"
    assert "nginx" in diagnosis.summary
