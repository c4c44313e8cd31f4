"""Fit against recorded starts of SGLang 0.5.12 on H200, and against ct129's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.capacity.capacity_facts import CapacityFacts
from relight.core.capacity.fit import Fit, fit
from relight.core.capacity.fit_report import COLUMNS, rows, sentences
from relight.core.flags import FlagValue

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "models"
NEXTN: dict[str, FlagValue] = {
    "speculative-algorithm": "NEXTN",
    "speculative-num-steps": 3,
    "speculative-eagle-topk": 1,
    "speculative-num-draft-tokens": 4,
    "mem-fraction-static": 0.88,
    "context-length": 131072,
    "max-running-requests": 16,
    "mamba-scheduler-strategy": "extra_buffer",
}


def h200(
    model: str, flags: dict[str, FlagValue], free: float | None, gpus: int = 1, **extra: Any
) -> Fit:
    """Return the fit of a recorded model on one or more H200."""
    card = {"name": "NVIDIA H200", "memory_total_mib": 143771, "memory_free_gib": free}
    config = json.loads((DATA / f"{model}.config.json").read_text())
    return fit(
        CapacityFacts.model_validate(
            {
                "host": "h200",
                "gpus": [card] * gpus,
                "model": {"config": config, **extra},
                "flags": flags,
                "engine_version": "0.5.12",
            }
        )
    )


def ct129(**flags: FlagValue) -> Fit:
    """Return the fit of the shipped facts file, with some flags changed."""
    facts = json.loads((ROOT / "docs" / "examples" / "ct129-facts.json").read_text())
    facts["flags"].update({name.replace("_", "-"): value for name, value in flags.items()})
    return fit(CapacityFacts.model_validate(facts))


RECORDED = [
    ("qwen3-4b", {}, 139.13, 1, 859665, 4096),
    ("qwen3-4b", {"mem-fraction-static": 0.4}, 139.13, 1, 349836, 4096),
    ("qwen3.6-27b", NEXTN, 139.13, 1, 537146, 16),
    ("qwen3.6-27b", {**NEXTN, "tp-size": 2}, None, 2, 1577508, 16),
    (
        "qwen3.6-27b",
        {**NEXTN, "tp-size": 2, "mamba-full-memory-ratio": 0.5},
        138.28,
        2,
        1997979,
        16,
    ),
    ("qwen3-4b", {}, None, 1, 859665, 4096),
]


@pytest.mark.parametrize(("model", "flags", "free", "gpus", "tokens", "running"), RECORDED)
def test_fit_equals_a_recorded_start(
    model: str,
    flags: dict[str, FlagValue],
    free: float | None,
    gpus: int,
    tokens: int,
    running: int,
) -> None:
    """KV tokens are within 1 % and running requests exact, with measured or estimated memory."""
    found = h200(model, flags, free, gpus)
    assert found.fits
    assert found.kv_tokens == pytest.approx(tokens, rel=0.01)
    assert found.running == running


def test_the_default_static_share_is_the_recorded_one() -> None:
    """Without a flag the share is what SGLang 0.5.12 logged on an H200."""
    assert h200("qwen3-4b", {}, 139.13).memory_fraction == 0.903


def test_ct129_gets_ten_of_sixteen_requests_and_is_told_before_the_launch() -> None:
    """The shipped facts give 242,880 tokens within 5 %, 10 requests, and the reason in words."""
    found = ct129()
    assert found.kv_tokens == pytest.approx(242_880, rel=0.05)
    assert found.running == 10
    told = " | ".join(sentences(found))
    assert "16 running requests are asked, 10 will run" in told
    assert "52 slots, 5 a request" in told


def test_the_ratio_that_is_named_really_allows_the_requests() -> None:
    """Following the advice gives what it promises: 16 requests and the stated KV tokens."""
    advised = ct129()
    assert advised.state_ratio_for_asked is not None
    assert advised.kv_tokens_for_asked is not None
    followed = ct129(mamba_full_memory_ratio=advised.state_ratio_for_asked)
    assert followed.running == 16
    assert followed.kv_tokens == pytest.approx(advised.kv_tokens_for_asked, rel=0.02)


def test_a_static_share_below_the_weights_is_refused_with_the_number() -> None:
    """The recorded failure with 0.30 does not fit, and the least share is named."""
    found = h200("qwen3.6-27b", {**NEXTN, "mem-fraction-static": 0.30}, 139.13)
    assert not found.fits
    assert found.running == 0
    assert "above 0.366" in sentences(found)[0]


def test_weights_larger_than_the_gpu_ask_for_more_gpus() -> None:
    """A model that no share can hold is told apart from a share that is too small."""
    found = h200("qwen3.6-27b", NEXTN, 40.0)
    assert "more GPUs" in sentences(found)[0]


def test_fewer_gpus_than_tp_is_an_error_in_words() -> None:
    """tp-size 2 on one GPU is refused before anything is computed."""
    with pytest.raises(ValueError, match="tp-size 2 needs as many GPUs, the host has 1"):
        h200("qwen3-4b", {"tp-size": 2}, 139.13)


def test_a_reserve_too_small_for_the_draft_is_told() -> None:
    """A static share that leaves less than the draft's own load is a warning."""
    assert any("reserve of" in text for text in sentences(ct129(mem_fraction_static=0.93)))


def test_files_go_before_the_shape() -> None:
    """Tensor sizes of the files decide, whatever the config would imply."""
    tensors = {
        "model.language_model.layers.0.mlp.up_proj.weight": 60e9,
        "mtp.layers.0.mlp.up_proj.weight": 1e9,
        "lm_head.weight": 2.5e9,
        "model.language_model.embed_tokens.weight": 2.5e9,
        "model.visual.blocks.0.attn.qkv.weight": 1e9,
    }
    found = h200("qwen3.6-27b", NEXTN, 139.13, tensors=tensors)
    weights = next(line for line in found.lines if line.what == "weights")
    assert weights.gib == pytest.approx(66e9 / 2**30)
    assert weights.source == "files"


def test_rows_fill_their_columns() -> None:
    """Every row of the table has one cell for each column."""
    assert all(len(row) == len(COLUMNS) for row in rows(ct129()))


@given(st.floats(0.6, 0.95), st.integers(1, 64))
def test_static_lines_never_exceed_the_static_share(fraction: float, running: int) -> None:
    """Whatever is asked, weights and caches of a fit stay within the share that was given."""
    found = ct129(mem_fraction_static=fraction, max_running_requests=running)
    used = sum(line.gib for line in found.lines if line.inside == "static")
    assert not found.fits or used <= found.free_gib * fraction + 0.01
    assert found.running <= running


def test_weights_left_in_the_host_s_memory_leave_room_on_the_gpu() -> None:
    """`cpu-offload-gb` takes that much off each GPU's weights, and the KV cache gets it."""
    whole, off = ct129(), ct129(cpu_offload_gb=10)
    weights = [
        next(line.gib for line in one.lines if line.what == "weights") for one in (whole, off)
    ]
    assert weights[0] - weights[1] == pytest.approx(10)
    assert off.kv_tokens > whole.kv_tokens
