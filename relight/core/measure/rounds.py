"""Decode rounds, recovered: with speculation a chunk is not a token, and a read is not a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from relight.core.flags import Flags

DROPPED = 2
"""Rounds left out at the start of each request: the first ones carry the prefill's tail."""
STALL = 5.0
"""A gap this many times the median is a stall of the server or the way, not a round."""

AT_ONCE, LONGEST_WAIT = 0.5, 0.2
"""Shares of a request's pieces that came at once, and of its time in one gap, beyond which its
first piece may have been read so late that the rest tells no pace."""

MOST_LOST = 0.7
"""Stalls that take more of a request than this are how its pieces were delivered."""


@dataclass(frozen=True)
class Chunk:
    """One piece of a streamed answer: seconds since the piece before, tokens that it brought."""

    gap: float
    tokens: int


@dataclass(frozen=True)
class Rounds:
    """What was recovered: rounds, ms a round, tokens a round, gaps set aside as stalls."""

    rounds: int
    step_ms: float
    tokens_per_step: float
    stalls: int = 0


def limit(flags: Flags) -> int | None:
    """Return the most tokens that one round can bring with these flags; None when unknown.

    Chain speculation brings at most the draft tokens, bonus token included (SGLang forces
    num-draft-tokens to num-steps + 1 at top-k 1).
    """
    if not flags.get("speculative-algorithm"):
        return 1
    steps = flags.get("speculative-num-steps")
    drafts = flags.get("speculative-num-draft-tokens")
    if isinstance(steps, int) and not isinstance(steps, bool):
        return steps + 1
    if isinstance(drafts, int) and not isinstance(drafts, bool):
        return drafts
    return None


def recover(chunks: Sequence[Chunk], most: int | None, dropped: int = DROPPED) -> Rounds | None:
    """Return the decode rounds of one request from the pieces after its first; None when too few.

    One piece is one round (SGLang's stream_interval 1), also when several arrive in one read:
    time is taken over all pieces, so late and early arrivals cancel. A piece with more tokens
    than a round can bring (`most`) is several rounds that the server merged. The last piece is
    left out: the limit of tokens may have cut it. None too where pieces came in bursts.
    """
    kept = [chunk for chunk in chunks if chunk.tokens > 0][dropped:-1]
    if len(kept) < 2 or in_bursts(chunks):
        return None
    rounds = sum(rounds_in(chunk, most) for chunk in kept)
    unit = median(chunk.gap / rounds_in(chunk, most) for chunk in kept)
    lost = [late for at in range(len(kept)) if (late := _stalled(kept, at, unit, most)) > 0]
    seconds = sum(chunk.gap for chunk in kept)
    if sum(lost) > MOST_LOST * seconds:
        lost = []  # so much is no stall: pieces came in bursts, and the median is a burst's
    seconds -= sum(lost)
    if seconds <= 0:
        return None
    tokens = sum(chunk.tokens for chunk in kept)
    return Rounds(rounds, 1000 * seconds / rounds, tokens / rounds, len(lost))


def in_bursts(chunks: Sequence[Chunk]) -> bool:
    """Say whether pieces came in so few bursts that the client, not the server, gave the pace.

    A reader without a CPU gets them late and together. Time is counted from the first piece that it
    read: with many short bursts an error of one is small, with few it is all there is.
    """
    seconds = sum(chunk.gap for chunk in chunks)
    if not chunks or seconds <= 0:
        return bool(chunks)
    at_once = sum(chunk.gap < seconds / len(chunks) / 10 for chunk in chunks)
    longest = max(chunk.gap for chunk in chunks)
    return at_once > AT_ONCE * len(chunks) and longest > LONGEST_WAIT * seconds


def _stalled(kept: Sequence[Chunk], at: int, unit: float, most: int | None) -> float:
    """Return the seconds of a gap that are a stall of the server, not of the way.

    A stall on the way is made up for by pieces that follow at once; their credit is taken off.
    """
    expected = unit * rounds_in(kept[at], most)
    if unit <= 0 or kept[at].gap <= STALL * expected:
        return 0.0
    credit = 0.0
    for later in kept[at + 1 :]:
        due = unit * rounds_in(later, most)
        if later.gap >= due / 2:
            break
        credit += due - later.gap
    late = kept[at].gap - expected - credit
    return late if late > expected else 0.0


def rounds_in(chunk: Chunk, most: int | None) -> int:
    """Return how many rounds one piece holds at least: one, or as many as its tokens need."""
    return 1 if most is None else max(1, -(-chunk.tokens // most))


def chunks_of_itls(itls: Sequence[float]) -> tuple[Chunk, ...]:
    """Return the pieces behind bench_serving's `itls` of its `sglang` backend.

    It writes the gap divided by the piece's n tokens, n times (0.5.10 to 0.5.23, bench_serving.py
    and benchmark/serving.py); equal neighbours therefore are one piece.
    """
    runs = ((gap, len(list(same))) for gap, same in groupby(itls))
    return tuple(Chunk(gap * count, count) for gap, count in runs)
