"""The graph captures of a start: decode, prefill and draft, in each version's words."""

from __future__ import annotations

import time

from relight.standin.rank import Rank
from relight.standin.settings import Settings

# Seconds of a start of 15 s between which the captures run.
_BEGIN, _DECODE, _PREFILL, _DRAFT = 9.6, 11.7, 12.6, 13.2


def _batches(settings: Settings) -> list[int]:
    sizes = [1, 2, 4, *range(8, 257, 8)]
    return [size for size in sizes if size <= max(1, settings.max_graph_batch)]


def capture_decode(rank: Rank) -> None:
    """Capture decode graphs, unless they are off."""
    settings, journal = rank.settings, rank.journal
    if not settings.decode_graphs:
        return
    sizes, began = _batches(rank.settings), time.monotonic()
    new = settings.profile.new_capture_words
    what = "target verify" if settings.speculative else "target decode"
    per = settings.draft_tokens if settings.speculative else 1
    if new:
        journal.info(
            f"Capture {what} CUDA graph begin. backend=full, num_tokens_per_req={per}, "
            f"avail mem={rank.free:.2f} GB"
        )
    else:
        journal.info(
            "Capture cuda graph begin. This can take up to several minutes. "
            f"avail mem={rank.free:.2f} GB"
        )
        journal.info(f"Capture cuda graph bs {sizes}")
    rank.strike("capture")
    if settings.mem_fraction >= 0.97:
        rank.fail(
            (("model_executor/cuda_graph_runner.py", "raise Exception("),),
            "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate "
            "448.00 MiB. GPU 0 has a total capacity of 139.81 GiB of which 212.50 MiB is free.",
        )
    rank.bars("Capturing batches (bs", sizes, _BEGIN, _DECODE)
    rank.free -= 0.27
    took = time.monotonic() - began
    if new:
        journal.info(
            f"Capture {what} CUDA graph end. bs={sizes}, elapsed={took:.2f} s, "
            f"mem usage=0.27 GB, avail mem={rank.free:.2f} GB."
        )
    else:
        journal.info(
            f"Capture cuda graph end. Time elapsed: {took:.2f} s. mem usage=0.27 GB. "
            f"avail mem={rank.free:.2f} GB."
        )


def capture_prefill(rank: Rank) -> None:
    """Capture prefill graphs, or say why not."""
    settings, journal = rank.settings, rank.journal
    new = settings.profile.new_capture_words
    if not settings.prefill_graphs:
        journal.info(
            "Disable prefill CUDA graph because cuda_graph_config resolved "
            "prefill.backend='disabled' (e.g. via --cuda-graph-backend-prefill=disabled or "
            "auto-disable rules)."
            if new
            else "Disable piecewise CUDA graph because --disable-piecewise-cuda-graph is set"
        )
        return
    sizes, began = [4, 16, 64, 256, 1024, 4096, 8192], time.monotonic()
    name = "target prefill" if new else "piecewise"
    backend = "backend=breakable, " if new else ""
    journal.info(f"Capture {name} CUDA graph begin. {backend}avail mem={rank.free:.2f} GB")
    if not new:
        journal.info(f"Capture cuda graph num tokens {sizes}")
    rank.strike("prefill_capture")
    label = "Capturing prefill shape (num_tokens" if new else "Capturing num tokens (num_tokens"
    rank.bars(label, sizes, _DECODE, _PREFILL)
    rank.free -= 1.15
    took = time.monotonic() - began
    end = f"elapsed={took:.2f} s," if new else f"Time elapsed: {took:.2f} s."
    comma = "," if new else "."
    journal.info(
        f"Capture {name} CUDA graph end. {end} mem usage=1.15 GB{comma} "
        f"avail mem={rank.free:.2f} GB."
    )


def capture_draft(rank: Rank) -> None:
    """Capture the draft model's decode graphs."""
    settings, journal = rank.settings, rank.journal
    if not settings.decode_graphs:
        return
    new, began = settings.profile.new_capture_words, time.monotonic()
    name = "draft decode CUDA graph" if new else "draft cuda graph"
    begin = "backend=full, num_tokens_per_req=1," if new else "This can take up to several minutes."
    journal.info(f"Capture {name} begin. {begin} avail mem={rank.free:.2f} GB")
    rank.bars("Capturing batches (bs", _batches(rank.settings), _PREFILL, _DRAFT)
    took = time.monotonic() - began
    end = f"elapsed={took:.2f} s," if new else f"Time elapsed: {took:.2f} s."
    journal.info(f"Capture {name} end. {end} mem usage=0.19 GB. avail mem={rank.free:.2f} GB.")
