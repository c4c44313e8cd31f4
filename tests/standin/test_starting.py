"""A start: the recorded lines in the recorded order, ranks, progress bars, processes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from relight.standin.journal import bar
from tests.deadline import until
from tests.standin.rig import READY, Standin, environment, free_port, shape

DATA = Path(__file__).parents[1] / "data" / "standin"
Start = Callable[..., Standin]
TINY = ("--device", "cpu", "--max-total-tokens", "8192", "--context-length", "2048")
HYBRID = ("--model-path", "standin/qwen3.6-27b")
SPECULATIVE = (
    *("--speculative-algorithm", "NEXTN", "--speculative-num-steps", "3"),
    *("--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4"),
)


@pytest.mark.parametrize("version", ["0.5.10", "0.5.23"])
def test_the_lines_of_a_start_are_those_of_the_recording(start: Start, version: str) -> None:
    """On a CPU, every line from torch distributed to the ready line, numbers aside."""
    recorded = (DATA / f"start-{version}.log").read_text(encoding="utf-8").splitlines()
    expected = [shape(line.split("] ", 1)[1]) for line in recorded]
    messages = start(*TINY, sglang_version=version).ready().messages
    assert "stand-in" not in messages[0]
    assert messages[0].startswith("server_args=")
    assert [shape(line) for line in messages[1 : 1 + len(expected)]] == expected


def test_it_says_first_that_it_is_a_stand_in(start: Start) -> None:
    """The banner is the first line of the log, and /model_info and /server_info say it too."""
    server = start().ready()
    assert server.log.splitlines()[0].startswith("relight stand-in engine: not SGLang.")
    assert server.get("/model_info")[1]["standin"] is True
    assert server.get("/server_info")[1]["standin"] is True


def test_a_hybrid_model_with_speculation_says_what_the_recording_says(start: Start) -> None:
    """Pools with the mamba cache, the draft's second set of lines, its own capture."""
    server = start(*HYBRID, *SPECULATIVE, "--mamba-scheduler-strategy", "extra_buffer").ready()
    recorded = (DATA / "hybrid-speculative-0.5.12.log").read_text(encoding="utf-8")
    for words in (
        "Mamba Cache is allocated. max_mamba_cache_size: N, conv_state size: NGB, ssm_state",
        "KV Cache is allocated. #tokens: N, K size: N GB, V size: N GB",
        "Capture cuda graph begin. This can take up to several minutes. avail mem=N GB",
        "Capture cuda graph bs [N]",
        "Capture cuda graph end. Time elapsed: N s. mem usage=N GB. avail mem=N GB.",
        "Capture draft cuda graph begin. This can take up to several minutes. avail mem=N GB",
        "Capture draft cuda graph end. Time elapsed: N s. mem usage=N GB. avail mem=N GB.",
    ):
        assert words in shape(recorded)
        assert words in shape(server.log)
    assert len(re.findall("Load weight end", server.log)) == 2
    assert "POST /v1/chat/completions HTTP/1.1" in server.log


def test_the_words_of_0_5_23_are_its_own(start: Start) -> None:
    """Reworded captures, a prefill backend, timings, and no `Time elapsed`."""
    arguments = ("--cuda-graph-backend-prefill", "full", *SPECULATIVE)
    log = start(*arguments, sglang_version="0.5.23").ready().log
    assert "Capture target verify CUDA graph begin. backend=full, num_tokens_per_req=4" in log
    assert re.search(r"Capture target verify CUDA graph end\. bs=\[1, .*\], elapsed=", log)
    assert "Capture target prefill CUDA graph begin." in log
    assert "Capturing prefill shape (num_tokens=" in log
    assert "Capture draft decode CUDA graph begin." in log
    assert "Engine startup timings (s): load_weight=" in log
    assert "Time elapsed" not in log


def test_ranks_are_named_when_there_are_several(start: Start) -> None:
    """Lines of schedulers carry TP0 and TP1; the main process's lines carry no rank."""
    server = start("--tp-size", "2").ready()
    for rank in ("TP0", "TP1"):
        assert re.search(rf"\[20\S+ \S+ {rank}\] Load weight end", server.log)
    assert re.search(r"^\[20\S+ \S+ TP0\] max_total_num_tokens", server.log, re.MULTILINE)
    assert not re.search(r"TP1\] max_total_num_tokens", server.log)
    assert re.search(rf"^\[20\S+ [\d:]+\] {READY}", server.log, re.MULTILINE)
    titles = sorted(title for title in server.family() if "sglang::" in title)
    assert titles == ["sglang::detokenizer", "sglang::scheduler_TP0", "sglang::scheduler_TP1"]


def test_a_progress_bar_is_drawn_as_tqdm_draws_it() -> None:
    """Label, percentage, blocks, counts and rate of the recorded lines."""
    recorded = (DATA / "capture-bars.txt").read_text(encoding="utf-8").splitlines()
    label = "Capturing batches (bs=16 avail_mem=15.74 GB): "
    assert bar(label, 0, 12, 0.0) == recorded[0]
    assert bar(label, 1, 12, 4.04).split("[")[0] == recorded[1].split("[")[0]
    assert "[00:04<00:44, 4.04s/it]" in bar(label, 1, 12, 4.04)


def test_progress_rewrites_its_line(start: Start) -> None:
    """Bars are separated by carriage returns, so that one line holds many of them."""
    log = start("--model-path", "standin/qwen3-4b").ready()._log.read_bytes()
    assert re.search(rb"\rMulti-thread loading shards: +\d+% Completed \| \d+/8 \[", log)
    assert re.search(rb"\rCapturing batches \(bs=1 avail_mem=[\d.]+ GB\): 100%", log)


def test_only_access_lines_are_on_standard_output(pyz: Path) -> None:
    """The log proper is on standard error, as uvicorn and logging leave it."""
    port = str(free_port())
    with subprocess.Popen(
        [sys.executable, str(pyz), "--model-path", "standin/tiny", "--port", port],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if READY in line:
                break
        process.terminate()
        access = process.stdout.read().splitlines()
    assert access
    assert all(re.search(r"\] INFO:     127\.0\.0\.1:\d+ - \"", line) for line in access)
    assert not any('HTTP/1.1"' in line for line in said)


def test_a_higher_log_level_hides_the_stages(start: Start) -> None:
    """With --log-level warning even the ready line is gone, and the server still comes up."""
    server = start("--log-level", "warning")
    until(lambda: _answers(server), 8, "an answer to /health")
    assert server.messages == []


def _answers(server: Standin) -> bool:
    try:
        return server.get("/health")[0] == 200
    except ConnectionError:
        return False


def test_the_key_is_in_the_log_of_0_5_10_and_not_in_that_of_0_5_23(start: Start) -> None:
    """As in SGLang: only the later version redacts server_args."""
    assert "api_key='s3cret'" in start("--api-key", "s3cret").ready().log
    assert "s3cret" not in start("--api-key", "s3cret", sglang_version="0.5.23").ready().log


def test_children_import_under_another_title_first(start: Start) -> None:
    """Until they are up, children look like multiprocessing's; then they have SGLang's titles."""
    server = start(speed="1.5")
    server.says("server_args=")

    def spawned() -> set[str]:
        found = (re.search(r"multiprocessing\.\w+", title) for title in server.family())
        return {match[0] for match in found if match}

    expected = {"multiprocessing.spawn", "multiprocessing.resource_tracker"}
    until(lambda: spawned() == expected, 3, "children that import")
    server.ready()
    assert {"sglang::scheduler", "sglang::detokenizer"} <= server.family().keys()


def test_the_port_is_closed_until_the_start_is_nearly_over(start: Start) -> None:
    """Refused first, then 503 on /health while /v1/models already answers, then 200."""
    server = start(speed="1.5")
    with pytest.raises(ConnectionRefusedError):
        server.get("/health")
    server.says("Uvicorn running on", 12)
    assert server.get("/health")[0] == 503
    assert server.get("/v1/models")[0] == 200
    assert server.ready().get("/health")[0] == 200
