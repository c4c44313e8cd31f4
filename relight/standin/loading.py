"""A scheduler's start: its lines in order, with their times."""

from __future__ import annotations

import time

from relight.standin.graphs import capture_decode, capture_draft, capture_prefill
from relight.standin.journal import bar
from relight.standin.rank import Rank

# Seconds of a start of 15 s at which each stage is over, counted from the start of the process.
_DIST, _LOAD, _POOL, _ALL = 6.6, 9.3, 9.6, 13.2


def load(rank: Rank) -> None:
    """All stages of one rank; raises StartFailed, or never returns where a scenario hangs."""
    _dist(rank)
    _load(rank, rank.settings.model.architecture, rank.settings.weights_gb)
    _pool(rank)
    capture_decode(rank)
    capture_prefill(rank)
    if rank.settings.speculative:
        _draft(rank)
    _say_totals(rank)


def _dist(rank: Rank) -> None:
    profile = rank.settings.profile
    begin = "Init torch distributed begin." if profile.marks_dist_begin else ""
    rank.journal.info(begin or "Init parallel begin.")
    if rank.settings.gpu and int(rank.settings.values["tp_size"]) > 1:
        rank.journal.info("sglang is using nccl==2.28.9")
    rank.strike("dist")
    if int(rank.settings.values["nnodes"] or 1) > 1:
        rank.wait_for_end()  # the other node never comes
    rank.until(_DIST)
    if profile.marks_dist_begin:
        rank.journal.info(
            "Init torch distributed ends. elapsed=0.19 s, mem usage=0.09 GB",
        )
    else:
        rank.journal.info("Init parallel ends. elapsed=0.19 s")
        rank.journal.info("Memory baseline taken. mem usage=0.09 GB")


def _load(rank: Rank, architecture: str, weights: float) -> None:
    rank.journal.info(f"Load weight begin. avail mem={rank.free:.2f} GB")
    rank.strike("load")
    settings = rank.settings
    if settings.model.dense_heads % int(settings.values["tp_size"]):
        rank.fail(
            (("layers/linear.py", "assert total_num_heads % tp_size == 0"),), "AssertionError"
        )
    if weights > settings.gpu_gb:
        rank.fail(
            (("model_executor/model_runner.py", "self.model = self.loader.load_model("),),
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 170.00 MiB. GPU "
            f"{rank.rank} has a total capacity of {settings.gpu_gb:.2f} GiB of which 97.94 "
            "MiB is free.",
        )
    began, shards = time.monotonic(), max(1, min(12, int(weights)))
    for done in range(shards + 1):
        rank.until(_DIST + (_LOAD - _DIST) * done / shards)
        if rank.rank == 0:
            took = time.monotonic() - began
            text = bar("Multi-thread loading shards: ", done, shards, took)
            # The loader's own bar: no drawing, and the word Completed.
            start, _, rest = text.partition("|")
            rank.journal.progress(f"{start} Completed | {rest.partition('| ')[2]}")
    if rank.rank == 0:
        rank.journal.end_progress()
    rank.free -= weights
    rank.journal.info(
        f"Load weight end. elapsed={time.monotonic() - began:.2f} s, type={architecture}, "
        f"avail mem={rank.free:.2f} GB, mem usage={weights:.2f} GB."
    )


def _pool(rank: Rank, *, draft: bool = False) -> None:
    settings, journal = rank.settings, rank.journal
    if settings.profile.marks_dist_begin:
        journal.info("Using KV cache dtype: torch.bfloat16")
    rank.strike("pool")
    if settings.kv_gb <= 0:
        rank.fail(
            (("model_executor/model_runner_kv_cache_mixin.py", "raise RuntimeError(msg)"),),
            "{no_room}",
        )
    if settings.model.hybrid and not draft:
        journal.info(
            f"Mamba Cache is allocated. max_mamba_cache_size: {settings.max_running * 4}, "
            "conv_state size: 0.57GB, ssm_state size: 28.97GB "
        )
    side = settings.total_tokens / 14000 / (16 if draft else 1)
    dtype = "dtype: torch.bfloat16, " if settings.profile.kv_has_dtype else ""
    journal.info(
        f"KV Cache is allocated. {dtype}#tokens: {settings.total_tokens}, "
        f"K size: {side:.2f} GB, V size: {side:.2f} GB"
    )
    rank.free = max(0.5, rank.free - 2 * side)
    rank.until(_POOL)
    journal.info(f"Memory pool end. avail mem={rank.free:.2f} GB")


def _draft(rank: Rank) -> None:
    settings, journal = rank.settings, rank.journal
    if settings.profile.marks_dist_begin:
        journal.info("Init torch distributed begin.")
        journal.info("Init torch distributed ends. elapsed=0.00 s, mem usage=0.00 GB")
    rank.strike("draft")
    weights = settings.weights_gb / 10
    journal.info(f"Load weight begin. avail mem={rank.free:.2f} GB")
    rank.free -= weights
    journal.info(
        f"Load weight end. elapsed=0.01 s, type={settings.model.architecture}MTP, "
        f"avail mem={rank.free:.2f} GB, mem usage={weights:.2f} GB."
    )
    _pool(rank, draft=True)
    capture_draft(rank)


def _say_totals(rank: Rank) -> None:
    settings = rank.settings
    rank.until(_ALL)
    if rank.rank != 0:
        return
    kind = "gpu" if settings.gpu else "cpu"
    rank.journal.info(
        f"max_total_num_tokens={settings.total_tokens}, "
        f"chunked_prefill_size={settings.values['chunked_prefill_size'] or 8192}, "
        f"max_prefill_tokens={settings.values['max_prefill_tokens']}, "
        f"max_running_requests={settings.max_running}, "
        f"context_len={settings.context_length}, "
        f"available_{kind}_mem={rank.free:.2f} GB"
    )
