"""A streamed chat answer, read: server-sent events to marks in time, marks to a sample."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from relight.core.measure.degenerate import repeated_share
from relight.core.measure.measurement import Sample
from relight.core.measure.rounds import Chunk, in_bursts, recover

EXCERPT = 120
_COUNTED = 10**9
"""No request has more tokens than this: a larger count is no count."""


@dataclass(frozen=True)
class Mark:
    """One event of a stream: seconds since the request was sent, and what it carried.

    `total` is the server's count of tokens so far (SGLang's `continuous_usage_stats`).
    """

    at: float
    text: str = ""
    total: int | None = None
    finish: str = ""
    model: str = ""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    error: str = ""


def mark(line: str, at: float) -> Mark | None:
    """Return what one line of a stream says; None for the end, for comments and blank lines.

    A line that is no JSON object is an error of the server, never an exception.
    """
    if not line.startswith("data:"):
        return None
    body = line[5:].strip()
    if body == "[DONE]":
        return None
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        return Mark(at, error="the stream carried something that is not JSON")
    if not isinstance(event, dict):
        return Mark(at, error="the stream carried something that is not an object")
    if event.get("error") or event.get("object") == "error":
        return Mark(at, error=_words(event.get("error") or event.get("message") or "error"))
    return _mark(event, at)


def _mark(event: dict[str, Any], at: float) -> Mark:
    choice = _mapping(_first(event.get("choices")))
    delta = _mapping(choice.get("delta"))
    usage = _mapping(event.get("usage"))
    details = _mapping(usage.get("prompt_tokens_details"))
    calls = delta.get("tool_calls")
    return Mark(
        at,
        text=_text(delta.get("reasoning_content"))
        + _text(delta.get("content"))
        + (json.dumps(calls, sort_keys=True) if calls else ""),
        total=count(usage.get("completion_tokens")),
        finish=_text(choice.get("finish_reason")),
        model=_text(event.get("model")),
        input_tokens=count(usage.get("prompt_tokens")),
        cached_tokens=count(details.get("cached_tokens")),
    )


def sample(prompt: str, marks: Sequence[Mark], most: int | None, repeat: int = 0) -> Sample:
    """Return one request's figures from its marks, in the order in which they came.

    `most` is the limit of tokens that one decode round can bring. Tokens are the server's count;
    a server that counts nothing leaves 0, which the gate refuses.
    """
    texts = [item for item in marks if item.text]
    text = "".join(item.text for item in texts)
    counted = [item.total for item in marks if item.total is not None]
    tokens = max(counted, default=0)
    error = next((item.error for item in marks if item.error), "")
    known = Sample(
        prompt=prompt,
        repeat=repeat,
        input_tokens=_last(item.input_tokens for item in marks),
        cached_tokens=_last(item.cached_tokens for item in marks),
        output_tokens=tokens,
        e2e_ms=1000 * marks[-1].at if marks else 0.0,
        finish=_last(item.finish or None for item in marks) or "",
        model=_last(item.model or None for item in marks) or "",
        text_sha256=hashlib.sha256(text.encode()).hexdigest() if text else "",
        excerpt=printable(text, EXCERPT),
        repeated_share=repeated_share(text),
        error=printable(error, 300),
    )
    if error or not texts or not tokens:
        return known
    return known.model_copy(update=_timed(texts, tokens, most))


def _timed(texts: Sequence[Mark], tokens: int, most: int | None) -> dict[str, Any]:
    chunks = pieces(texts, tokens)
    seconds = texts[-1].at - texts[0].at
    brought = sum(chunk.tokens for chunk in chunks)
    rounds = recover(chunks, most)
    figures: dict[str, Any] = {
        "ttft_ms": 1000 * texts[0].at,
        "e2e_ms": 1000 * texts[-1].at,
        "tok_s": brought / seconds if brought and not in_bursts(chunks) else None,
        "gaps_ms": tuple(round(1000 * chunk.gap, 3) for chunk in chunks),
        "gap_tokens": tuple(chunk.tokens for chunk in chunks),
    }
    if rounds is not None:
        figures |= {
            "rounds": rounds.rounds,
            "step_ms": rounds.step_ms,
            "tokens_per_step": rounds.tokens_per_step,
            "stalls": rounds.stalls,
        }
    return figures


def pieces(texts: Sequence[Mark], tokens: int) -> tuple[Chunk, ...]:
    """Return the pieces after the first, each with its gap and its tokens.

    Where the server counts along, a piece's tokens are the difference of two counts. Where it
    counts only at the end, they are spread evenly over the pieces, the first one counting one.
    """
    gaps = [two.at - one.at for one, two in pairwise(texts)]
    totals = [item.total for item in texts]
    known = [total for total in totals if total is not None]
    if len(known) == len(totals):
        return tuple(
            Chunk(gap, max(0, two - one))
            for gap, (one, two) in zip(gaps, pairwise(known), strict=True)
        )
    spread = [round(index * (tokens - 1) / max(1, len(gaps))) for index in range(len(gaps) + 1)]
    return tuple(
        Chunk(gap, two - one) for gap, (one, two) in zip(gaps, pairwise(spread), strict=True)
    )


def count(value: object) -> int | None:
    """Return a count that a server stated; None for anything that is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _COUNTED:
        return value
    return None


def printable(text: str, most: int) -> str:
    """Return the beginning of a foreign text without anything that moves a terminal's cursor."""
    cut = text[:most]
    return "".join(char if char.isprintable() else " " for char in cut)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _words(value: object) -> str:
    message = _mapping(value).get("message", value)
    return message if isinstance(message, str) else json.dumps(message)


def _last(values: Any) -> Any:
    return next((value for value in reversed(list(values)) if value is not None), None)
