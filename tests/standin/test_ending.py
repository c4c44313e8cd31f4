"""Ends: drains, signals, dead children and orphans, as each version of SGLang was seen to do."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.deadline import until
from tests.standin.rig import Standin, alive, events, shape

DATA = Path(__file__).parents[1] / "data" / "standin"
OLD, NEW = "0.5.10", "0.5.23"
KILLED = -signal.SIGKILL
Start = Callable[..., Standin]


def gone(server: Standin) -> None:
    """Wait until nothing of a server is left."""
    until(lambda: not server.family(), 5, f"the end of {server.family()}")


@pytest.mark.parametrize(("version", "code"), [(OLD, KILLED), (NEW, 0)])
def test_sigterm_drains_and_ends_as_recorded(start: Start, version: str, code: int) -> None:
    """Idle: the recorded lines and the version's exit code; nothing is left."""
    server = start(sglang_version=version).ready()
    server.process.terminate()
    assert server.ended() == code
    gone(server)
    recorded = (DATA / f"stop-{version}.log").read_text(encoding="utf-8").splitlines()
    lines = [shape(line.split("] ", 1)[1]) for line in recorded]
    expected = [line for line in lines if "background tasks" not in line]
    position = next(i for i, line in enumerate(server.messages) if "SIGTERM received" in line)
    assert [shape(line) for line in server.messages[position:]][: len(expected)] == expected


@pytest.mark.parametrize(("version", "code"), [(OLD, KILLED), (NEW, 0)])
def test_a_running_request_is_finished_first(start: Start, version: str, code: int) -> None:
    """While it drains: health 503, the stream runs to its end, new requests are still taken."""
    server = start(sglang_version=version, step_ms="20").ready()
    with server.open_stream("Tell me of rivers", max_tokens=50) as response:
        made = events(response)
        next(made)
        server.process.terminate()
        until(lambda: server.get("/health")[0] == 503, 3, "503 on /health")
        server.process.terminate()
        assert server.chat("What is 2+2?")["choices"][0]["message"]["content"] == "4"
        *_, last = made
    assert last["choices"][0]["finish_reason"] == "length"
    assert server.ended() == code
    assert "Remaining number of requests 1. Remaining requests remaining_rids=['" in server.log


def test_a_refused_length_makes_the_drain_of_0_5_10_endless(start: Start) -> None:
    """A second SIGTERM changes nothing; SIGINT ends it with 0. 0.5.23 is mended."""
    for version in (OLD, NEW):
        server = start("--context-length", "64", sglang_version=version).ready()
        too_long = {"messages": [{"role": "user", "content": "word " * 64}]}
        assert server.post("/v1/chat/completions", too_long)[0] == 400
        server.process.terminate()
        if version == NEW:
            assert server.ended() == 0
            continue
        until(lambda s=server: s.log.count("requests 1.") > 3, 5, "a drain")  # type: ignore[misc]
        server.process.terminate()
        until(lambda s=server: s.log.count("requests 1.") > 6, 5, "a drain")  # type: ignore[misc]
        assert server.process.poll() is None
        server.process.send_signal(signal.SIGINT)
        assert server.ended() == 0


@pytest.mark.parametrize("version", [OLD, NEW])
def test_sigint_ends_quickly_with_zero(start: Start, version: str) -> None:
    """As uvicorn ends."""
    server = start(sglang_version=version).ready()
    server.process.send_signal(signal.SIGINT)
    assert server.ended(2) == 0
    gone(server)
    assert "INFO:     Finished server process [" in server.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_kill_while_children_import_leaves_the_detokenizer(
    start: Start, number: signal.Signals
) -> None:
    """The main process goes at once; the scheduler dies of a broken pipe; an orphan stays."""
    server = start(speed="1.5")
    until(lambda: len(server.children()) == 3, 5, "three children", every=0.01)
    server.process.send_signal(number)
    assert server.ended(1) == -number
    server.says("BrokenPipeError: [Errno 32] Broken pipe")
    until(lambda: "sglang::scheduler" not in server.family(), 3, "the scheduler's end")
    assert "sglang::detokenizer" in server.family()


def test_sigkill_to_the_main_process_takes_the_children_along(start: Start) -> None:
    """Once they are up, children die with their parent."""
    server = start().ready()
    family = server.family()
    assert len(family) == 3
    server.process.kill()
    assert server.ended() == KILLED
    until(lambda: not any(map(alive, family.values())), 3, "the children's end")


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_killed_scheduler_ends_the_server_and_cuts_the_stream(start: Start, version: str) -> None:
    """The line names the child and its code; 0.5.23 looks for the cause for a while first."""
    server = start(sglang_version=version, step_ms="20").ready()
    scheduler = server.family()["sglang::scheduler"]
    with server.open_stream("Tell me of rivers", max_tokens=2000) as response:
        made = events(response)
        next(made)
        os.kill(scheduler, signal.SIGKILL)
        with pytest.raises((ConnectionError, OSError)):
            list(made)
    assert server.ended() == KILLED
    gone(server)
    assert (
        f"Subprocess scheduler_0 (pid={scheduler}) crashed with exit code -9. Triggering SIGQUIT "
        "for cleanup..." in server.log
    )
    diagnosed = "Sleeping 5 seconds before crash diagnostics" in server.log
    assert diagnosed == (version == NEW)


def test_a_killed_detokenizer_ends_0_5_10_at_once_and_0_5_23_late(start: Start) -> None:
    """0.5.23 waits for coredumps of the schedulers that are left, and answers nothing."""
    old = start(sglang_version=OLD).ready()
    os.kill(old.family()["sglang::detokenizer"], signal.SIGKILL)
    assert old.ended() == KILLED
    new = start(sglang_version=NEW, speed="0.6").ready()
    os.kill(new.family()["sglang::detokenizer"], signal.SIGKILL)
    new.says("Waiting 60.0 seconds for CUDA coredumps before exiting.")
    with pytest.raises(TimeoutError):
        new.request("GET", "/v1/models", timeout=0.5)
    assert new.process.poll() is None
    assert new.ended() == KILLED


def test_a_stopped_scheduler_is_a_hang(start: Start) -> None:
    """Health turns 503 after its limit, the model list stays 200, SIGTERM forces the end."""
    server = start(speed="0.6").ready()
    scheduler = server.family()["sglang::scheduler"]
    os.kill(scheduler, signal.SIGSTOP)
    assert server.get("/health")[0] == 503
    assert "Server couldn't get a response from detokenizer for last 20 seconds." in server.log
    assert server.get("/v1/models")[0] == 200
    with pytest.raises(TimeoutError):
        server.request("GET", "/server_info", timeout=0.5)
    server.process.terminate()
    assert server.ended() == KILLED
    assert "Signal SIGTERM received while health check failed. Force exiting." in server.log
    gone(server)


def test_a_json_schema_crashes_0_5_10_on_the_cpu(start: Start) -> None:
    """A request that this build cannot serve takes the server down."""
    server = start("--device", "cpu").ready()
    asked = {
        "messages": [{"role": "user", "content": "hi"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
    }
    with pytest.raises((ConnectionError, OSError)):
        server.post("/v1/chat/completions", asked)
    assert server.ended() == KILLED
    assert "Unsupported device: cpu" in server.log


def test_a_port_held_in_silence_is_waited_for_for_ever(start: Start) -> None:
    """Errno 98 after the load, no end, SIGTERM without effect."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        server = start(port=port)
        server.says(
            "ERROR:    [Errno 98] error while attempting to bind on address "
            f"('127.0.0.1', {port}): address already in use"
        )
        server.says("INFO:     Waiting for application shutdown.")
        server.process.terminate()
        with pytest.raises(TimeoutError):
            server.ended(1.5)
        assert "fired up" not in server.log


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_port_held_by_another_server_makes_the_ready_line_lie(start: Start, version: str) -> None:
    """It warms up against the other one, logs the ready line, and ends with 3."""
    first = start(sglang_version=version).ready()
    second = start(port=first.port, sglang_version=version).ready()
    assert second.ended() == 3
    gone(second)
    assert "[Errno 98]" in second.log
    assert "INFO:     Application shutdown complete." in second.log
    assert first.log.count("POST /generate") == 2
    assert first.process.poll() is None


def test_requests_to_a_draining_server_do_not_deadlock_it(start: Start) -> None:
    """Eight clients at the moment of SIGTERM are all answered before the end."""
    server = start(step_ms="2").ready()
    answered: list[int] = []

    def ask() -> None:
        with contextlib.suppress(OSError):
            answered.append(
                server.chat("Tell me of rivers", max_tokens=60)["usage"]["total_tokens"]
            )

    clients = [threading.Thread(target=ask) for _ in range(8)]
    for client in clients:
        client.start()
    until(lambda: server.log.count("Prefill batch") >= 9, 5, "eight requests")
    server.process.terminate()
    for client in clients:
        client.join(10)
    assert len(answered) == 8
    assert server.ended() == KILLED
