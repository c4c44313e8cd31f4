"""The ceiling against the worked table of ct129, and the words it may use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.capacity.capacity_facts import CapacityFacts, LinkSample
from relight.core.capacity.ceiling import LINKS, Load, Machine, bound, round_parts, tokens_with
from relight.core.capacity.ceiling_report import COLUMNS, Ceiling, ceiling, rows
from relight.core.capacity.ceiling_words import sentences
from relight.core.capacity.link_state import judge_link
from relight.core.capacity.model_shape import read_shape
from relight.core.capacity.model_weights import of_shape

ROOT = Path(__file__).parents[3]
TABLE = {
    "NVLink bridge": ("0.9", "50.0", "54", "60", "67", "100"),
    "PCIe Gen4 x16, P2P": ("1.6", "50.6", "53", "59", "66", "99"),
    "PCIe Gen4 x16, no P2P": ("4.5", "53.5", "50", "56", "63", "93"),
    "PCIe Gen1 x16, P2P": ("3.8", "52.9", "51", "57", "63", "95"),
    "PCIe Gen1 x16, no P2P": ("9.3", "58.4", "46", "51", "57", "86"),
    "PCIe Gen4 x16, P2P, 8-bit weights": ("1.6", "32.4", "83", "93", "103", "154"),
}


def raw() -> dict[str, Any]:
    """Return the shipped facts of ct129, as they stand in the file."""
    text = (ROOT / "docs" / "examples" / "ct129-facts.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def ct129(**changes: Any) -> Ceiling:
    """Return the ceiling of ct129, with some facts changed."""
    return ceiling(CapacityFacts.model_validate({**raw(), **changes}))


def test_the_worked_table_comes_out() -> None:
    """All six rows of the worked answer, all-reduce, round and tok/s, to the printed digit."""
    assert {row[0]: row[1:] for row in rows(ct129())} == TABLE
    assert len(COLUMNS) == 7


def test_bound_and_reached_share() -> None:
    """Bound 40.0 ms, reached 55 to 59 ms, 68 to 73 % of it: from the file alone."""
    told = sentences(ct129())
    assert told[0].startswith("bound: 40.0 ms a round: 25.6 GB target + 3 x 1.7 GB draft a GPU")
    assert "reached: 55-59 ms a round (49-57 tok/s, one stream) = 68-73 % of the bound" in told
    assert any("66-82 tok/s" in text and "8-bit" in text for text in told)
    assert any("4 is the most with 3 draft steps" in text for text in told)


def test_break_even_of_draft_steps() -> None:
    """Speculation pays from the worked accept lengths on, for 1, 2, 3, 5 and 7 steps."""
    assert [round(row.break_even, 2) for row in ct129().draft_steps] == [
        1.06,
        1.13,
        1.19,
        1.32,
        1.45,
    ]


def test_no_cause_without_a_measurement() -> None:
    """What was not measured is a range that says so; link and P2P stay unknown."""
    told = " | ".join(sentences(ct129()))
    assert "bottleneck" not in told
    assert "because" not in told
    assert "P2P between the GPUs: not measured" in told
    assert told.count("link speed under load unknown") == 2
    assert "all-reduce 1-9 ms (not measured)" in told


def test_a_measurement_replaces_its_range() -> None:
    """A measured all-reduce and bandwidth share are one number each, called measured."""
    told = " | ".join(
        sentences(ct129(link={"all_reduce_us": 20.0, "p2p": True}, bandwidth_share=0.9))
    )
    assert "all-reduce 3 ms (measured)" in told
    assert "bandwidth not reached 4 ms (measured)" in told
    assert "P2P between the GPUs: on (measured)" in told


def test_flags_that_cannot_help_are_those_that_are_set() -> None:
    """Overlap on a dense model and prefill graphs are named; flags that are not set are not."""
    told = " | ".join(text for text in sentences(ct129()) if text.startswith("cannot help"))
    assert "enable-single-batch-overlap" in told
    assert "enforce-piecewise-cuda-graph" in told
    assert "enable-two-batch-overlap" not in told


def test_without_observations_no_share_is_claimed() -> None:
    """Nothing measured: the share is unknown, and no gain over today is promised."""
    told = sentences(ct129(observed=[]))
    assert "no round was measured: the share of the bound that is reached is unknown" in told
    assert not any("8-bit" in text for text in told)


def test_an_unknown_card_asks_for_its_bandwidth() -> None:
    """A card that neither driver nor table knows is an error that says what to state."""
    card = {"name": "Imaginary 9000", "memory_total_mib": 1000}
    with pytest.raises(ValueError, match="state bandwidth_gbs, or bus_bits and memory_mhz"):
        ct129(gpus=[card, card])


def test_one_gpu_has_no_link() -> None:
    """With tp 1 there is no all-reduce, no link row and no word about P2P."""
    facts = raw()
    alone = ct129(flags={**facts["flags"], "tp-size": 1})
    assert [row.all_reduce_ms for row in alone.rows] == [0.0]
    assert not any("P2P" in text for text in sentences(alone))


def samples(gen: int, busy: float, count: int) -> list[LinkSample]:
    """Return readings of one generation at one utilization."""
    return [LinkSample(gen=gen, utilization=busy) for _ in range(count)]


@pytest.mark.parametrize(
    ("readings", "state"),
    [
        (samples(1, 0, 50), "unknown"),
        (samples(1, 100, 9), "unknown"),
        (samples(1, 0, 50) + samples(4, 100, 10), "full"),
        (samples(1, 100, 20), "degraded"),
        (samples(1, 100, 17) + samples(4, 100, 3), "full"),
        (samples(1, 100, 19) + samples(4, 100, 1), "degraded"),
    ],
)
def test_a_link_is_judged_from_busy_samples_only(readings: list[LinkSample], state: str) -> None:
    """Idle Gen1 is no fault; degraded needs ten busy samples and nine in ten below."""
    assert judge_link(readings, 4).state == state


@given(st.floats(0.0, 1.0), st.integers(0, 8))
def test_tokens_a_round_stay_between_one_and_all(acceptance: float, steps: int) -> None:
    """A round brings at least the bonus token and at most one more than its draft steps."""
    assert 1.0 <= tokens_with(acceptance, steps) <= steps + 1 + 1e-9


@given(st.integers(0, 8), st.integers(1, 32), st.sampled_from(LINKS))
def test_a_modelled_round_never_beats_the_bound(steps: int, batch: int, link: Any) -> None:
    """Whatever the load and link, the model stays above what the bandwidth alone allows."""
    shape = read_shape(raw()["model"]["config"])
    weights, machine = of_shape(shape), Machine(2, 768e9, 154.8e12)
    parts = round_parts(shape, weights, machine, link, Load(batch=batch, steps=steps))
    assert parts.total > bound(weights, machine, steps)
