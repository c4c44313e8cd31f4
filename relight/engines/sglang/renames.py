"""Flags that changed their name or meaning between versions, both ways."""

from __future__ import annotations

from typing import NamedTuple

from relight.core.flags import FlagValue


class Rename(NamedTuple):
    """`old` until before `since`, from then on `new`; a switch may have become a `value`.

    `since` is the first version in which only the new name is right; in between both are.
    """

    old: str
    new: str
    since: str
    value: FlagValue | None = None


# From the parsers of 0.5.10, 0.5.12, 0.5.15 and 0.5.23: deprecated aliases of 0.5.15 that are gone
# in 0.5.23, and deprecated ones of 0.5.23 with what their help says to write.
RENAMES: tuple[Rename, ...] = (
    Rename("cuda-graph-max-bs", "cuda-graph-max-bs-decode", "0.5.15"),
    Rename("cuda-graph-bs", "cuda-graph-bs-decode", "0.5.15"),
    Rename("disable-piecewise-cuda-graph", "cuda-graph-backend-prefill", "0.5.15", "disabled"),
    Rename("enable-breakable-cuda-graph", "cuda-graph-backend-prefill", "0.5.15", "breakable"),
    Rename("enforce-piecewise-cuda-graph", "cuda-graph-backend-prefill", "0.5.15", "breakable"),
    Rename("enable-piecewise-cuda-graph", "cuda-graph-backend-prefill", "0.5.15", "breakable"),
    Rename("piecewise-cuda-graph-tokens", "cuda-graph-bs-prefill", "0.5.15"),
    Rename("piecewise-cuda-graph-max-tokens", "cuda-graph-max-bs-prefill", "0.5.15"),
    Rename("piecewise-cuda-graph-compiler", "cuda-graph-tc-compiler", "0.5.15"),
    Rename("mamba-scheduler-strategy", "mamba-radix-cache-strategy", "0.5.15"),
    Rename("nsa-prefill-backend", "dsa-prefill-backend", "0.5.15"),
    Rename("nsa-decode-backend", "dsa-decode-backend", "0.5.15"),
    Rename("nsa-prefill-cp-mode", "dsa-prefill-cp-mode", "0.5.15"),
    Rename("enable-nsa-prefill-context-parallel", "enable-dsa-prefill-context-parallel", "0.5.15"),
    Rename("speculative-dflash-draft-window-size", "speculative-draft-window-size", "0.5.15"),
    Rename("stream-output", "incremental-streaming-output", "0.5.10"),
    Rename("disable-cuda-graph", "disable-decode-cuda-graph", "0.5.23"),
    Rename("monokernel-backend", "enable-amd-monokernel", "0.5.23"),
    # Older still, and the names that vLLM's users bring along.
    Rename("enable-flashinfer-mla", "attention-backend", "0.4.6", "flashinfer"),
    Rename("disable-flashinfer", "attention-backend", "0.4.0", "triton"),
    Rename("enable-deepep-moe", "moe-a2a-backend", "0.5.0", "deepep"),
    Rename("gpu-memory-utilization", "mem-fraction-static", "0.1.0"),
    Rename("max-model-len", "context-length", "0.1.0"),
    Rename("max-num-seqs", "max-running-requests", "0.1.0"),
    Rename("tensor-parallel", "tp-size", "0.1.0"),
    Rename("enforce-eager", "disable-cuda-graph", "0.1.0", True),
)
HINTS: dict[str, str] = {
    "enable-dp-attention": "Write --attn-dp-size with the value of --dp-size.",
    "enable-ep-moe": "Write --ep-size with the number of GPUs.",
    "enable-reasoning": "A flag of vLLM: leave it out, and write --reasoning-parser NAME.",
    "enable-auto-tool-choice": "A flag of vLLM: leave it out, and write --tool-call-parser NAME.",
    "swap-space": "A flag of vLLM: leave it out; --enable-hierarchical-cache is SGLang's.",
    "enable-prefix-caching": "A flag of vLLM: leave it out; SGLang's radix cache is on by itself.",
    "torchao-config": "Removed: serve a quantised checkpoint instead.",
}
"""What to do about a flag that has no successor which takes the same value."""

_NEWER = {one.old: one for one in RENAMES}
_OLDER: dict[str, list[Rename]] = {}
for _one in RENAMES:
    _OLDER.setdefault(_one.new, []).append(_one)


def modern_name(flag: str) -> tuple[str, FlagValue | None] | None:
    """Return what a flag became, and the value where a switch became one; None if it did not."""
    found = _NEWER.get(flag)
    return None if found is None else (found.new, found.value)


def former_names(flag: str) -> tuple[Rename, ...]:
    """Return what a flag was called before."""
    return tuple(_OLDER.get(flag, ()))
