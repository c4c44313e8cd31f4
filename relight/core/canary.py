"""What a server is asked to prove itself, sized so that it always fits, and how answers are judged.

A prompt that is too long is worse than none: SGLang 0.5.10 refuses it, and then never drains.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from relight.core.flags import Flags
from relight.core.measure.degenerate import repeated_share
from relight.core.preset import Canary

TOKENS = 96
"""Long enough that `!!!!` for ever, what NaN decodes to, can be told from an answer."""
SHORT = ("Say hello.", "Name three colours.", "Count from one to five.", "What is a lamp?")
AT_ONCE = 3
_TEMPLATE = 160
"""Tokens that a chat template may add, counted as if each of its characters were one."""
_GARBAGE = 0.95
_LONGEST = 1300
_WORTH = 200
_HEAD = "Here are some digits. Reply with one short sentence. "


def room_of(flags: Flags, announced: Sequence[int]) -> int | None:
    """Return how many tokens a request and its answer may have together, None when nobody says.

    `announced` are what the server itself says (max_model_len of /v1/models, the size of its pool).
    """
    written = [flags.get(name) for name in ("context-length", "max-total-tokens")]
    known = [one for one in (*written, *announced) if isinstance(one, int) and one is not True]
    return min((one for one in known if one > 0), default=None)


def long_prompt(room: int | None) -> str | None:
    """Return a prompt of some length that fits; None when there is no room for one.

    Digits apart from each other are between half a token and one token a character with every
    tokenizer known: a full-length prompt has at least 600 tokens, and never more than characters.
    """
    size = min(_LONGEST, (room or 2048) - TOKENS - _TEMPLATE)
    if size < _WORTH:
        return None
    digits = " ".join(str(7 * number % 10) for number in range(_LONGEST // 2))
    return (_HEAD + digits)[:size]


def short_prompts(room: int | None) -> tuple[str, ...]:
    """Return the short prompts that fit: all, or none where the context is a toy."""
    fits = room is None or room >= TOKENS + _TEMPLATE + max(map(len, SHORT))
    return SHORT if fits else ()


def fits(canary: Canary, room: int | None) -> bool:
    """Return whether a known question and its answer fit, each character counted as a token."""
    return room is None or len(canary.ask) + canary.max_tokens + _TEMPLATE <= room


def content_of(answer: Any) -> tuple[str, str, int]:
    """Return an answer's text, its thought and its tokens; raises ValueError for another shape."""
    try:
        message = answer["choices"][0]["message"]
        text = str(message.get("content") or "")
        thought = str(message.get("reasoning_content") or "")
        tokens = int((answer.get("usage") or {}).get("completion_tokens") or 0)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError):
        raise ValueError("a chat answer is not in the expected shape") from None
    return text, thought, tokens


def all_garbage(texts: Sequence[str]) -> bool:
    """Return whether every answer repeats itself for ever.

    One such answer is no proof: a small or random model may fall into a loop now and then.
    """
    return len(texts) > 1 and all(repeated_share(text) > _GARBAGE for text in texts)


def recognized(canary: Canary, text: str, thought: str) -> bool:
    """Return whether a known answer is found; in the thought only where no other text is."""
    return re.search(canary.match, text or thought, re.IGNORECASE | re.DOTALL) is not None
