"""Text that no working model writes: one character, one word or one short phrase for ever."""

from __future__ import annotations

LONGEST_PERIOD = 32
SHORTEST_TEXT = 64
"""Shorter texts are not judged: a right answer may be `aaaa`."""


def repeated_share(text: str) -> float:
    """Return how much of a text repeats itself at its best period (1 to 32 characters), 0 to 1.

    Ordinary prose and code stay below 0.4; `!!!!` for ever, what NaN logits decode to, gives 1.
    """
    if len(text) < SHORTEST_TEXT:
        return 0.0
    best = 0.0
    for period in range(1, LONGEST_PERIOD + 1):
        same = sum(one == two for one, two in zip(text, text[period:], strict=False))
        best = max(best, same / (len(text) - period))
    return best
