"""Remedies that several rules share, as data; the names of flags follow the version's."""

from __future__ import annotations

import re

from relight.core.failure import Remedy
from relight.engines.sglang.names import SPECULATIVE
from relight.engines.sglang.rule import Scene

MEMORY = "mem-fraction-static"


def tell(words: str) -> Remedy:
    """Return words for a person: nothing that a tool may do."""
    return Remedy(words=words, auto="never")


def drop_speculation(
    words: str = "Start without speculative decoding: the model alone works.",
) -> Remedy:
    """Return the drop of every flag of speculative decoding: they only work together."""
    return Remedy(drop=SPECULATIVE, words=words, auto="safe")


def prefill_graph_off(_: re.Match[str], scene: Scene) -> Remedy:
    """Return how prefill graphs are switched off: cheap, since decoding keeps its graphs."""
    words = "Switch prefill CUDA graphs off; decoding keeps its own."
    if scene.modern:
        return Remedy(set={"cuda-graph-backend-prefill": "disabled"}, words=words, auto="safe")
    return Remedy(set={"disable-piecewise-cuda-graph": True}, words=words, auto="safe")


def graph_off(match: re.Match[str], scene: Scene) -> Remedy:
    """Return how a failed capture is avoided: prefill graphs first, decode graphs last."""
    if "prefill" in scene.tags:
        return prefill_graph_off(match, scene)
    if "draft" in scene.tags:
        return drop_speculation("The draft model's graphs failed: start without it.")
    words = "Decode without CUDA graphs: it starts, and is much slower at small batches."
    name = "disable-decode-cuda-graph" if scene.modern else "disable-cuda-graph"
    return Remedy(set={name: True}, words=words, auto="bounded")


def capture_needs_room(match: re.Match[str], scene: Scene) -> Remedy:
    """Return what frees memory for a capture: less for the pools, fewer sizes."""
    room = Remedy(
        lower=(MEMORY, "cuda-graph-max-bs-decode" if scene.modern else "cuda-graph-max-bs"),
        words="Leave more memory beside the pools (-0.03 to -0.05), then capture fewer sizes.",
        auto="bounded",
    )
    if "prefill" in scene.tags:
        return room.model_copy(update={"set": prefill_graph_off(match, scene).set})
    return room


MORE_FOR_POOLS = Remedy(
    raise_=(MEMORY,),
    lower=("cuda-graph-max-bs", "cuda-graph-max-bs-decode", "max-running-requests"),
    words="The pools got no room: raise the fraction in steps of 0.03, at most to the last that "
    "ran out of memory; then fewer graphs or requests, no draft model, or a smaller model.",
    auto="bounded",
)
FEWER_REQUESTS = Remedy(
    lower=("max-running-requests", "chunked-prefill-size", MEMORY),
    words="Run fewer requests at a time, prefill in smaller chunks, leave more memory free.",
    auto="bounded",
)
WEIGHTS_TOO_BIG = tell(
    "The weights do not fit: more GPUs (tp-size), a quantised checkpoint, or no draft model. "
    "mem-fraction-static cannot help here."
)
NO_CUSTOM_ALL_REDUCE = Remedy(
    set={"disable-custom-all-reduce": True},
    words="Use NCCL instead of the custom all-reduce; if it still fails, NCCL_P2P_DISABLE=1.",
    auto="safe",
)
NO_PEER_ACCESS = Remedy(
    set={"disable-custom-all-reduce": True},
    env={"NCCL_P2P_DISABLE": "1"},
    words="A silent start of several GPUs is mostly peer access (IOMMU, ACS) or the wrong network "
    "interface: start without P2P and without the custom all-reduce.",
    auto="bounded",
)
ANOTHER_BACKEND = Remedy(
    drop=("attention-backend", "prefill-attention-backend", "decode-attention-backend"),
    words="Let SGLang choose the attention backend.",
    auto="safe",
)
OLD_KERNELS = tell(
    "The kernel package has no code for this GPU: install the build for its architecture; no flag "
    "helps, and switching graphs off only moves the failure to the first request."
)
RESTART = Remedy(
    words="Stop the whole process group (TERM, wait, then KILL) and start it again.", auto="bounded"
)
LESS_HICACHE = Remedy(
    lower=("hicache-size", "hicache-ratio"),
    drop=("enable-hierarchical-cache",),
    words="The hierarchical cache takes host memory per rank: make it smaller, or leave it out.",
    auto="bounded",
)
OTHER_PORT = tell("Another process holds the port: free it, or give the service another port.")
NO_PROXY = Remedy(
    env={"NO_PROXY": "127.0.0.1,localhost,0.0.0.0", "no_proxy": "127.0.0.1,localhost,0.0.0.0"},
    words="The server's request to itself went through a proxy: exempt its own addresses.",
    auto="safe",
)
CRASHED = Remedy(
    drop=SPECULATIVE,
    words="Start again; after a few crashes without speculative decoding; then roll back.",
    auto="bounded",
)
