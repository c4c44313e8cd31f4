"""SGLang's lines that mark a stage, as data: how a message begins, and what then has begun.

Read from the wheels of 0.5.10, 0.5.12, 0.5.15 and 0.5.23 (srt/model_executor, srt/managers,
srt/distributed, srt/entrypoints); 0.4.x spells most of them the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from relight.core.startup import Stage

READY = "The server is fired up and ready to roll!"
ARGUMENTS = "server_args="


class Mark(NamedTuple):
    """A message that begins with `text` says that `stage` has begun (or is still going on)."""

    text: str
    stage: Stage


MARKS: tuple[Mark, ...] = (
    Mark(ARGUMENTS, Stage.SPAWN),
    Mark("Init torch distributed", Stage.DIST),
    Mark("Init parallel", Stage.DIST),
    Mark("sglang is using nccl", Stage.DIST),
    Mark("Load weight begin", Stage.LOAD),
    Mark("Found local HF snapshot", Stage.LOAD),
    Mark("Using model weights format", Stage.LOAD),
    Mark("Loading safetensors using", Stage.LOAD),
    # The pools are what comes next, and an allocation that fails now is theirs.
    Mark("Load weight end", Stage.KVPOOL),
    Mark("Using KV cache dtype", Stage.KVPOOL),
    Mark("KV Cache is allocated", Stage.KVPOOL),
    Mark("Mamba Cache is allocated", Stage.KVPOOL),
    Mark("SWAKVPool mem usage", Stage.KVPOOL),
    Mark("Post-capture KV sizing", Stage.KVPOOL),
    Mark("Memory pool end", Stage.KVPOOL),
    Mark("Capture ", Stage.CAPTURE),
    Mark("Running FlashInfer autotune", Stage.CAPTURE),
    Mark("Entering DeepGEMM JIT", Stage.CAPTURE),
    Mark("INFO:     Started server process", Stage.HTTP),
    Mark("INFO:     Application startup complete", Stage.HTTP),
    Mark("INFO:     Uvicorn running on", Stage.HTTP),
    Mark("Starting granian", Stage.HTTP),
    Mark(READY, Stage.READY),
    Mark("SIGTERM received", Stage.SHUTDOWN),
    Mark("Signal SIGTERM received", Stage.SHUTDOWN),
    Mark("Gracefully exiting", Stage.SHUTDOWN),
    Mark("INFO:     Shutting down", Stage.SHUTDOWN),
)

_KEY = 6
_BY_KEY: dict[str, list[Mark]] = {}
for _mark in MARKS:
    _BY_KEY.setdefault(_mark.text[:_KEY], []).append(_mark)

# Lines that are no stage's, though they begin like one: a failed capture, a reason to skip it.
_NOT = re.compile(r"Capture (?:\w+ )*graph failed", re.IGNORECASE)
_WARM_UP = re.compile(r'"(?:GET /(?:get_)?model_info|POST /(?:generate|encode))\b')

_BAR = re.compile(r"(?:^|\s)(\d{1,3})%(?:\||\s+Completed\s*\||\s*$)")
_BARS: tuple[Mark, ...] = (
    Mark("loading", Stage.LOAD),
    Mark("downloading", Stage.LOAD),
    Mark("fetching", Stage.LOAD),
    Mark("capturing", Stage.CAPTURE),
    Mark("compiling", Stage.CAPTURE),
    Mark("deepgemm", Stage.CAPTURE),
    Mark("autotun", Stage.CAPTURE),
)


def stage_of(message: str) -> Stage | None:
    """Return the stage that a message marks, if it marks one."""
    for mark in _BY_KEY.get(message[:_KEY], ()):
        if message.startswith(mark.text):
            return None if _NOT.match(message) else mark.stage
    if message.startswith("INFO:") and _WARM_UP.search(message):
        return Stage.WARMUP
    return None


def captured(text: str) -> frozenset[str]:
    """Return whose graphs a capture's line is about: `prefill`, `draft`."""
    low = text.lower()
    tags = set()
    if "prefill" in low or "piecewise" in low or "num tokens" in low:
        tags.add("prefill")
    if "draft" in low:
        tags.add("draft")
    return frozenset(tags)


class Bar(NamedTuple):
    """A progress bar: what it counts, how far it is (percent), whose stage it is."""

    what: str
    percent: int
    stage: Stage | None


def bar_of(text: str) -> Bar | None:
    """Return what a tqdm line says; a bar without a name says nothing."""
    found = _BAR.search(text)
    if found is None:
        return None
    what = text[: found.start()].rstrip(" :").partition("(")[0].strip()
    if not what:
        return None
    low = what.lower()
    stage = next((mark.stage for mark in _BARS if mark.text in low), None)
    return Bar(what, min(int(found.group(1)), 100), stage)
