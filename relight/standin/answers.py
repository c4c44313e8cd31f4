"""Made-up answers: plain words that follow from the prompt, and right answers to plain canaries."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORDS = (
    "the a small river town light morning stone garden window letter road winter summer bread "
    "water music paper clock bridge harbor forest mountain field cloud rain north south quiet open "
    "bright early late warm cold long short simple careful steady gentle green silver wooden old "
    "new people children teacher farmer sailor baker writer walk carry build mend follow gather "
    "watch listen answer return begin finish keep share find bring and then while because after "
    "before under over near along toward between without every another each some many few always "
    "often never again together slowly quickly"
)
_SALAD = r"�� ]]> ::: }{ qu� he� ## \W ;;; zz ~~ @@ || ?!"
_VOCABULARY = tuple(_WORDS.split())
_PIECES = tuple(_SALAD.split())
_TOKEN = re.compile(r"\w{1,8}|[^\w\s]")
_SINGLE = re.compile(
    r"(?:single word|one word|only the word|just the word|repeat the word|say the word"
    r"|reply with|answer with|respond with)(?: only| exactly)?\s*:?\s*[\"'`“]?"
    r"(?P<word>(?!the\b|a\b|one\b|only\b|just\b)[\w-]+)",
    re.IGNORECASE,
)
_SUM = re.compile(r"(-?\d{1,9})\s*(\+|-|\*|x|times|plus|minus)\s*(\d{1,9})", re.IGNORECASE)
_CAPITALS = {
    "france": "Paris",
    "germany": "Berlin",
    "italy": "Rome",
    "spain": "Madrid",
    "japan": "Tokyo",
    "england": "London",
}
_THOUGHT = "The question is short , so a plain answer is the best one here ."


def count_tokens(text: str) -> int:
    """Tokens of a text; near to what a real tokenizer says of English."""
    return len(_TOKEN.findall(text))


def known_answer(prompt: str) -> str | None:
    """The right answer to a canary question, or None."""
    single = _SINGLE.search(prompt)
    if single is not None:
        return single["word"]
    sum_of = _SUM.search(prompt)
    if sum_of is not None:
        left, sign, right = int(sum_of[1]), sum_of[2].lower(), int(sum_of[3])
        if sign in ("+", "plus"):
            return str(left + right)
        return str(left - right if sign in ("-", "minus") else left * right)
    lowered = prompt.lower()
    if "capital" in lowered:
        return next((city for land, city in _CAPITALS.items() if land in lowered), None)
    return None


@dataclass(frozen=True)
class Plan:
    """What will be said: tokens of thought first, then the answer, then (maybe) the end."""

    seed: int
    thought: tuple[str, ...]
    fixed: tuple[str, ...] | None  # the whole answer, where it is known
    limit: int  # tokens in all
    natural_end: int | None  # tokens after which it stops by itself

    @property
    def length(self) -> int:
        """Tokens that will come."""
        return self.limit if self.natural_end is None else min(self.limit, self.natural_end)

    @property
    def reason(self) -> str:
        """finish_reason: stop or length."""
        ends = self.natural_end is not None and self.natural_end <= self.limit
        return "stop" if ends else "length"

    def tokens(self) -> Iterator[str]:
        """The tokens, as many as one asks for."""
        yield from self.thought
        if self.fixed is not None:
            yield from self.fixed
        words = random.Random(self.seed)
        while True:
            yield " " + words.choice(_VOCABULARY)


def _as_tokens(text: str, *, spaced: bool) -> tuple[str, ...]:
    parts = re.findall(r"\s*\S+", text)
    first = (" " + parts[0].lstrip()) if spaced and parts else "".join(parts[:1])
    return (first, *parts[1:])


def plan(prompt: str, limit: int | None, *, ignore_eos: bool, thinks: bool, chat: bool) -> Plan:
    """What to answer to a prompt within `limit` tokens (None: as long as it likes)."""
    seed = int.from_bytes(hashlib.sha256(prompt.encode("utf-8", "replace")).digest()[:8], "big")
    thought = _as_tokens(_THOUGHT, spaced=False) if thinks else ()
    known = known_answer(prompt)
    fixed = None if known is None else _as_tokens(known, spaced=not chat)
    natural: int | None = None
    if not ignore_eos:
        if fixed is not None:
            natural = len(thought) + len(fixed)
        elif limit is None:
            natural = len(thought) + 64 + seed % 128
    return Plan(
        seed=seed,
        thought=thought,
        fixed=fixed,
        limit=limit if limit is not None else 4096,
        natural_end=natural,
    )


def salad(seed: int) -> Iterator[str]:
    """Tokens that mean nothing."""
    pieces = random.Random(seed)
    while True:
        yield pieces.choice(_PIECES)
