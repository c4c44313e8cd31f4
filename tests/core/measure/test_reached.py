"""What a host's own benchmarks tell its ceiling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relight.core.capacity.capacity_facts import CapacityFacts
from relight.core.capacity.ceiling_report import ceiling
from relight.core.capacity.ceiling_words import sentences
from relight.core.measure.measurement import GpuLoad, Measurement, Sample
from relight.core.measure.reached import with_runs

DATA = Path(__file__).parents[2] / "data" / "models"


def facts(gpus: int = 2) -> CapacityFacts:
    """Return a 27B shape on two cards, nothing measured."""
    card = {"name": "NVIDIA H200", "memory_total_mib": 143771, "link_gen_possible": 5}
    return CapacityFacts.model_validate(
        {
            "host": "gpu",
            "gpus": [card] * gpus,
            "model": {"config": json.loads((DATA / "qwen3.6-27b.config.json").read_text())},
            "flags": {"tp-size": gpus, "context-length": 131072},
            "engine_version": "0.5.12",
        }
    )


def run(tok_s: float, tokens: float, *loads: GpuLoad) -> Measurement:
    """Return a run of four even prompts, and how the GPUs stood meanwhile."""
    sample = Sample(
        prompt="p", output_tokens=100, tok_s=tok_s, step_ms=1000 * tokens / tok_s,
        tokens_per_step=tokens, rounds=30, ttft_ms=150.0,
    )  # fmt: skip
    samples = tuple(sample.model_copy(update={"prompt": f"p{at}"}) for at in range(4))
    return Measurement(
        tool="probe", tool_version="1", backend="chat", started="", samples=samples, gpus=loads
    )


def test_without_a_run_nothing_is_claimed() -> None:
    """No run, no share of the bound."""
    told = sentences(ceiling(with_runs(facts(), ())))
    assert any("no round was measured" in line for line in told)


def test_the_rounds_of_each_start_are_what_was_reached() -> None:
    """71.6 tok/s at one token a round is 14.0 ms: seen with tp 2 on two H200, SGLang 0.5.12."""
    known = ceiling(with_runs(facts(), (run(71.6, 1.0), run(140.0, 2.0))))
    assert [one.round_ms for one in known.observed] == pytest.approx([13.97, 14.29], abs=0.01)
    told = " ".join(sentences(known))
    assert "% of the bound" in told
    assert "no round was measured" not in told


def test_links_are_judged_from_the_load_of_the_benchmark() -> None:
    """Busy samples of both GPUs, by the number that the service is bound to."""
    loads = (
        GpuLoad(index=2, samples=158, busy=65, link_gen=5, link_share=1.0, link_width=16),
        GpuLoad(index=3, samples=158, busy=60, link_gen=1, link_share=1.0, link_width=16),
        GpuLoad(index=0, samples=158, busy=99, link_gen=4, link_share=1.0, link_width=8),
    )
    known = ceiling(with_runs(facts(), (run(71.6, 1.0, *loads),), bound=(2, 3)))
    assert [link.state for link in known.links] == ["full", "degraded"]
    assert [link.busy for link in known.links] == [65, 60]


def test_a_link_that_reached_its_best_only_sometimes() -> None:
    """The share of samples at the best generation is kept; ten busy ones are asked for."""
    few = GpuLoad(index=0, samples=20, busy=9, link_gen=5, link_share=1.0)
    half = GpuLoad(index=1, samples=40, busy=20, link_gen=5, link_share=0.5)
    known = ceiling(with_runs(facts(), (run(71.6, 1.0, few, half),)))
    assert [link.state for link in known.links] == ["unknown", "full"]
