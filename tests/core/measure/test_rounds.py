"""Decode rounds from streamed pieces: coalesced, merged, stalled and cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.flags import FlagValue
from relight.core.measure.rounds import Chunk, chunks_of_itls, in_bursts, limit, recover


def even(count: int, gap: float = 0.05, tokens: int = 3) -> list[Chunk]:
    """Return pieces that come like clockwork."""
    return [Chunk(gap, tokens)] * count


def test_even_pieces_give_their_own_time_and_tokens() -> None:
    """Pieces of 3 tokens each 50 ms are rounds of 50 ms and 3 tokens."""
    found = recover(even(40), most=4)
    assert found is not None
    assert found.step_ms == pytest.approx(50.0)
    assert found.tokens_per_step == pytest.approx(3.0)
    assert found.stalls == 0


def test_without_speculation_merged_pieces_are_as_many_rounds_as_tokens() -> None:
    """One token a round: a piece of five tokens is five rounds, whatever merged it."""
    found = recover([*even(20, 0.01, 1), Chunk(0.05, 5), *even(20, 0.01, 1)], most=1)
    assert found is not None
    assert found.step_ms == pytest.approx(10.0)
    assert found.tokens_per_step == pytest.approx(1.0)


def test_pieces_that_arrive_together_keep_their_time() -> None:
    """Two pieces in one read (a double gap, then none) are still two rounds."""
    pairs = [Chunk(0.1, 3), Chunk(0.0, 3)] * 20
    found = recover([*even(2), *pairs, *even(1)], most=4)
    assert found is not None
    assert found.step_ms == pytest.approx(50.0)


def test_a_stall_on_the_way_is_no_stall_of_the_server() -> None:
    """A gap of ten rounds that a burst makes up for leaves the step time alone."""
    burst = [Chunk(0.5, 3), *even(9, 0.0)]
    found = recover([*even(20), *burst, *even(20)], most=4)
    assert found is not None
    assert found.step_ms == pytest.approx(50.0)
    assert found.stalls == 0


def test_a_stall_of_the_server_is_set_aside_and_counted() -> None:
    """A pause that nothing makes up for is one stall, and no part of the step time."""
    found = recover([*even(20), Chunk(2.0, 3), *even(20)], most=4)
    assert found is not None
    assert found.stalls == 1
    assert found.step_ms == pytest.approx(50.0, rel=0.001)


def test_pieces_in_bursts_keep_their_whole_time() -> None:
    """Eight pieces at once every 400 ms are rounds of 50 ms, whatever the median gap says."""
    bursts = [piece for _ in range(10) for piece in [*even(7, 0.0001), Chunk(0.3993, 3)]]
    found = recover([*even(2), *bursts, *even(1)], most=4)
    assert found is not None
    assert found.step_ms == pytest.approx(50.0, rel=0.01)
    assert found.stalls == 0


def test_a_client_that_read_late_tells_no_pace() -> None:
    """187 pieces at once after the first was read late look like rounds of 0.3 ms: no figure."""
    assert in_bursts([*even(187, 0.00002, 1), Chunk(0.045, 1)])
    assert recover([*even(187, 0.00002, 1), Chunk(0.045, 1)], most=1) is None
    assert in_bursts([Chunk(0.0, 1)] * 5)
    assert not in_bursts([*even(2), Chunk(2.0, 3), *even(20)])
    assert not in_bursts([])


def test_the_cut_last_piece_does_not_count() -> None:
    """The token limit cuts the last round; it must not pull tokens per round down."""
    found = recover([*even(20), Chunk(0.05, 1)], most=4)
    assert found is not None
    assert found.tokens_per_step == pytest.approx(3.0)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_too_few_pieces_give_nothing(count: int) -> None:
    """Without two pieces beyond the dropped ones there is no figure, not a wrong one."""
    assert recover(even(count), most=4) is None


def test_equal_itls_are_one_piece() -> None:
    """bench_serving's gap divided by n, n times, is one piece of n tokens again."""
    pieces = chunks_of_itls([0.01] * 3 + [0.02] * 2 + [0.03])
    assert [piece.tokens for piece in pieces] == [3, 2, 1]
    assert [round(piece.gap, 6) for piece in pieces] == [0.03, 0.04, 0.03]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, 1),
        ({"speculative-num-steps": 3}, 1),
        ({"speculative-algorithm": "NEXTN", "speculative-num-steps": 3}, 4),
        ({"speculative-algorithm": "NGRAM", "speculative-num-draft-tokens": 8}, 8),
        ({"speculative-algorithm": "NEXTN"}, None),
    ],
)
def test_limit_of_a_round(flags: dict[str, FlagValue], expected: int | None) -> None:
    """A chain brings its steps and one; without speculation it is one; else it is unknown."""
    assert limit(flags) == expected


@given(
    st.lists(st.integers(1, 4), min_size=8, max_size=200),
    st.floats(0.002, 0.2),
    st.integers(0, 2**31),
)
def test_jitter_on_the_way_never_moves_tokens_and_hardly_time(
    tokens: list[int], step: float, seed: int
) -> None:
    """Arrival jitter below one round leaves tokens exact and time within its edges."""
    count = len(tokens)
    late = [((seed >> at % 31) & 7) / 8 * step for at in range(count + 1)]
    times = [at * step + late[at] for at in range(count + 1)]
    chunks = [Chunk(times[at + 1] - times[at], size) for at, size in enumerate(tokens)]
    found = recover(chunks, most=4)
    assert found is not None
    kept = tokens[2:-1]
    assert found.rounds == len(kept)
    assert found.tokens_per_step == pytest.approx(sum(kept) / len(kept))
    assert abs(found.step_ms - 1000 * step) * len(kept) <= 1000 * step
