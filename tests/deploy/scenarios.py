"""Every scenario of the table in docs/scenarios.md, and the ground on which one is played."""

from __future__ import annotations

import json
import math
import random
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.deploy.conftest import Rig

SPEED = {"RELIGHT_STANDIN_SPEED": "0.3", "RELIGHT_STANDIN_STEP_MS": "1"}
CHUNK = {"chunk": {"flags": {"enable-mixed-chunk": True}}}
THREE = {
    "chunk": {"flags": {"enable-mixed-chunk": True}},
    "overlap": {"flags": {"enable-two-batch-overlap": True}},
    "sleepy": {"flags": {"sleep-on-idle": True}},
}
SPECULATION = {
    "speculation": {
        "flags": {
            "speculative-algorithm": "NEXTN",
            "speculative-num-steps": 3,
            "speculative-eagle-topk": 1,
            "speculative-num-draft-tokens": 4,
        }
    }
}
TWO = {"flags": {"tp-size": 2}}
LESS = {
    "on": "oom_graph_capture",
    "adjust": {"mem-fraction-static": {"by": -0.03, "to": 0.4, "times": 3}},
}
MORE = {"on": "oom_pool", "adjust": {"mem-fraction-static": {"by": 0.05, "to": 0.9, "times": 3}}}


@dataclass(frozen=True)
class Case:
    """One line of the table: what the stand-in plays, and how the candidate's preset differs."""

    name: str
    plays: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ("--no-benchmark",)
    old: str = ""
    """What the server that is replaced plays."""


HOPELESS = """
cli_args cli_ambiguous wrong_python_args flag_conflict model_access model_unsupported
env_toolchain driver_too_old backend_unsupported no_gpu gpu_unavailable gpu_ecc dist_refused
nccl_error checkpoint_mismatch broken_weights host_resources open_files host_oom_kill
internal_port port_in_use ready_line_lies warmup_failed orphan_detokenizer gpu_arch
kernel_shared_memory jit_compile oom_weights oom_pool oom_mamba_state
oom_capture oom_prefill_capture oom_runtime runtime_crash crash_after_ready crash_on_long_prompt
crash_on_concurrency watchdog_timeout scheduler_hang hang_serving garbage empty_answers wrong_model
startup_stall capture_hang dist_timeout p2p_hang download_stall graph_capture_crash
"""
"""Whatever is tried, the candidate fails: the old server comes back."""

HARMLESS = "slow_start slow retraction below_goal"
"""The candidate serves, if late or slowly; what a benchmark makes of it is another line."""

CASES = (
    *(Case(name, name) for name in HOPELESS.split()),
    *(Case(name, name) for name in HARMLESS.split()),
    Case("crash_within_settle", "crash_within_settle", {"readiness": {"settle": "4s"}}),
    Case("nan_logits", "nan_logits", {"flags": {"kv-cache-dtype": "fp8_e4m3"}}),
    Case(
        "wrong_output, with a known answer",
        "wrong_output",
        {"expect": {"answers": [{"ask": "What is 17 plus 25?", "match": "42"}]}},
    ),
    Case("wrong_output, nothing known", "wrong_output"),
    Case("rank_echo, two GPUs", "rank_echo", TWO),
    Case("p2p_unsupported, two GPUs", "p2p_unsupported", TWO),
    Case("allreduce_capture, two GPUs", "allreduce_capture", TWO),
    Case("prefill_graph_crash", "prefill_graph_crash"),
    Case("slow, with a floor", "slow", {"expect": {"tok_s": 300}}, words=()),
    Case("cli_args of a layer", "cli_args:when=enable-mixed-chunk", {"layers": CHUNK}),
    Case(
        "cli_args of a layer, --no-preflight",
        "cli_args:when=enable-mixed-chunk",
        {"layers": CHUNK},
        words=("--no-benchmark", "--no-preflight"),
    ),
    Case("language-only", "", {"layers": {"text": {"flags": {"language-only": True}}}}),
    Case(
        "language-only, --no-preflight",
        "",
        {"layers": {"text": {"flags": {"language-only": True}}}},
        words=("--no-benchmark", "--no-preflight"),
    ),
    Case(
        "language-only, --no-preflight --strict",
        "",
        {"layers": {"text": {"flags": {"language-only": True}}}},
        words=("--no-benchmark", "--no-preflight", "--strict"),
    ),
    Case(
        "unattributed_crash, first of three layers",
        "unattributed_crash:when=enable-mixed-chunk",
        {"layers": THREE},
    ),
    Case(
        "unattributed_crash, last of three layers",
        "unattributed_crash:when=sleep-on-idle",
        {"layers": THREE},
    ),
    Case("unattributed_crash, no layer is guilty", "unattributed_crash", {"layers": CHUNK}),
    Case("spec_config of a layer", "spec_config", {"layers": SPECULATION}),
    Case(
        "oom_capture above a fraction, with a fallback",
        "oom_capture:when=mem-fraction-static>0.48",
        {"fallbacks": [LESS]},
    ),
    Case(
        "oom_pool below a fraction, with a fallback",
        "oom_pool:when=mem-fraction-static<0.54",
        {"fallbacks": [MORE]},
    ),
    Case(
        "one fraction is right, with both fallbacks",
        "oom_pool:when=mem-fraction-static<0.51,oom_capture:when=mem-fraction-static>0.51",
        {"fallbacks": [LESS, MORE], "attempts": 6},
    ),
    Case(
        "no fraction is right, with both fallbacks",
        "oom_pool:when=mem-fraction-static<0.515,oom_capture:when=mem-fraction-static>0.505",
        {"fallbacks": [LESS, MORE], "attempts": 6},
    ),
    Case("drain_never_ends", "", old="drain_never_ends"),
    Case("stop_ignored", "", old="stop_ignored"),
    Case("slow_drain", "", old="slow_drain"),
)


@dataclass(frozen=True)
class Came:
    """What playing one line came to; `dark` is seconds without an answer, seen from outside."""

    attempts: int
    verdict: str
    serves: str
    code: int
    dark: float
    out: str = ""


def row(case: Case, came: Came) -> str:
    """Return a line of the table; `dark` in whole seconds, rounded up."""
    played = [f"`{case.plays}`"] if case.plays else []
    played += [f"the old server `{case.old}`"] if case.old else []
    cells = (
        case.name,
        ", ".join(played) or "-",
        came.attempts,
        came.verdict,
        came.serves,
        came.code,
        math.ceil(came.dark),
    )
    return "| " + " | ".join(map(str, cells)) + " |"


class Prober(threading.Thread):
    """Asks for the models ten times a second, and adds up the time without an answer."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._url = f"http://127.0.0.1:{port}/v1/models"
        self._done = threading.Event()
        self.dark = 0.0
        self.first: float | None = None
        """When the first question found no answer, in seconds since the epoch."""

    def run(self) -> None:
        """Ask until told to end."""
        before = time.monotonic()
        with httpx.Client(timeout=5) as http:
            while not self._done.wait(0.1):
                try:
                    up = http.get(self._url).status_code == 200
                except httpx.HTTPError:
                    up = False
                now = time.monotonic()
                if not up:
                    self.dark += now - before
                    self.first = self.first or time.time()
                before = now

    def end(self) -> float:
        """Return the seconds without an answer."""
        self._done.set()
        self.join()
        return self.dark


class Ground:
    """A project with a known-good that serves; each case is deployed over what serves then."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.port = free_port()
        self.played = 0
        self._deploy("baseline", {}, "", ("--no-benchmark",))

    def play(self, case: Case) -> Came:
        """Deploy the case's preset over what serves, and say what came of it."""
        if case.old:
            self._deploy(f"old-{self.played}", {}, case.old, ("--no-benchmark",))
        before = self.rig.observed().current
        prober = Prober(self.port)
        prober.start()
        self.played += 1
        events, out = self._deploy(f"m{self.played}", case.preset, case.plays, case.words)
        dark = prober.end()
        seen = self.rig.observed()
        attempts = [one for one in events if one["kind"] == "attempt"]
        serves = "nothing"
        if seen.state == "running" and self.rig.answers() == "tiny":
            serves = "the known-good" if seen.current == before else "the new release"
        return Came(
            attempts=len(attempts),
            verdict=_verdict(attempts, events, degraded=_degraded(events)),
            serves=serves,
            code=events[-1]["exit_code"],
            dark=round(dark, 1),
            out=out,
        )

    def _deploy(
        self, model: str, preset: Mapping[str, Any], plays: str, words: tuple[str, ...]
    ) -> tuple[list[dict[str, Any]], str]:
        base = {
            "model": f"standin/{model}",
            "flags": {"context-length": 4096, "mem-fraction-static": 0.5},
            "readiness": {"within": "60s", "stall": "8s", "settle": "0.3s", "answer": "8s"},
            "attempts": 5,
            "drain": "2s",
            "env": SPEED | ({"RELIGHT_STANDIN_SCENARIO": plays} if plays else {}),
        }
        for name, value in preset.items():
            old = base.get(name)
            base[name] = {**old, **value} if isinstance(old, dict) else value
        self.rig.write(base, main={"preset": "tiny", "port": self.port})
        ended = self.rig.deploy(*words, "--json", timeout=300)
        events = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
        assert events, ended.everything
        assert events[-1]["kind"] == "recap", ended.everything
        return events, ended.everything


def free_port() -> int:
    """Return a port below the range that connections take, so that nobody takes it by chance."""
    for port in random.sample(range(20000, 30000), 200):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise AssertionError("no free port")


def _degraded(events: list[dict[str, Any]]) -> bool:
    return any(host["degraded"] for host in events[-1]["hosts"].values())


def _verdict(
    attempts: list[dict[str, Any]], events: list[dict[str, Any]], *, degraded: bool
) -> str:
    """Return the classes of what failed, in their order, and how it ended."""
    failed = [one["diagnosis"]["failure"] for one in attempts if one["diagnosis"]]
    if attempts and not attempts[-1]["diagnosis"]:
        return ", ".join([*dict.fromkeys(failed), "degraded" if degraded else "ready"])
    if failed:
        return ", ".join(dict.fromkeys(failed))
    ended = [one for one in events if one["kind"] == "task" and one["status"] == "failed"]
    return f"{ended[0]['module']} refuses" if ended else "unchanged"
