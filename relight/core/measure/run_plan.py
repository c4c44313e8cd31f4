"""Which prompts a run takes, how long its answers are, and which of its lines are its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

LONG_CONTEXT = 32768
"""Long prompts need at most this context, whatever the tokenizer: one token a character."""
SHORTEST, LONGEST = 64, 512
PROMPT_ROOM = 512
"""Tokens that the longest short prompt and a chat template take, whatever the tokenizer."""
BUDGET_S = 25.0
_TAIL = 4
_Item = TypeVar("_Item")


def takes_long(context_length: int | None) -> bool:
    """Say whether a server with this context answers the long prompts; unknown counts as no."""
    return context_length is not None and context_length >= LONG_CONTEXT


def cycle(items: Sequence[_Item], number: int) -> tuple[tuple[_Item, int], ...]:
    """Return `number` items in order, starting anew at the end, each with its repeat from 0 on."""
    return tuple((items[at % len(items)], at // len(items)) for at in range(number))


def answer_tokens(
    tok_s: float | None, requests: int, most: int, context_length: int | None = None
) -> int:
    """Return how many tokens each answer gets, so that `requests` of them take about 25 s.

    Between 64 and 512, never above `most` nor what the context has room for; 160 where no speed
    is known.
    """
    fitting = int(BUDGET_S * tok_s / max(1, requests)) if tok_s is not None else 160
    room = most if context_length is None else max(1, context_length - PROMPT_ROOM)
    return min(most, room, max(SHORTEST, min(LONGEST, fitting)))


def busy_concurrency(running_requests: int | None) -> int:
    """Return the concurrency of the loaded pass: 8, or what the server takes at once if less."""
    return max(1, min(8, running_requests if running_requests is not None else 8))


def since(lines: Sequence[_Item], known: Sequence[_Item]) -> tuple[_Item, ...]:
    """Return the lines that came after a run began, given those that were there before.

    Both may be the end of a longer log, cut at another place: the last known lines are looked
    for. Where they are no longer there, every line is new.
    """
    if not known:
        return tuple(lines)
    tail = list(known[-_TAIL:])
    for at in range(len(lines) - len(tail), -1, -1):
        if list(lines[at : at + len(tail)]) == tail:
            return tuple(lines[at + len(tail) :])
    return tuple(lines)
