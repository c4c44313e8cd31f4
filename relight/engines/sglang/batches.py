"""SGLang's prefill and decode lines as key and value, whatever the version prints."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from relight.core.startup import Batch

Value = str | int | float | bool

_TRUTH: dict[str, bool] = {"True": True, "False": False}
_PAIR = re.compile(r"([^,:]+): ([^,]*)")
_KEY = re.compile(r"[^a-z0-9]+")
# `token/s` is the unit of every throughput; the key is the same in every version without it.
_UNIT = " (token/s)"


def batch_of(message: str, line: int) -> Batch | None:
    """Return the batch that a message describes: `Decode batch, #running-req: 1, ...`.

    Keys are lower case with `_`: running_req, queue_req, token_usage, gen_throughput (tokens/s),
    accept_len (comparable across versions), accept_rate (not: its denominator changed), cuda_graph.
    """
    if message.startswith("Decode batch"):
        phase: Literal["prefill", "decode"] = "decode"
        rest = message[12:]
    elif message.startswith("Prefill batch"):
        phase = "prefill"
        rest = message[13:]
    else:
        return None
    pairs: list[tuple[str, str]] = _PAIR.findall(rest)
    try:
        # Nearly every value is a number or a truth value: no call for each of them.
        values: dict[str, Value] = {
            _key(name): _TRUTH[text]
            if text in _TRUTH
            else float(text)
            if "." in text
            else int(text)
            for name, text in pairs
        }
    except ValueError:
        values = {_key(name): value_of(text) for name, text in pairs}
    return Batch(phase=phase, values=values, line=line) if values else None


@lru_cache(maxsize=256)
def _key(name: str) -> str:
    return _KEY.sub("_", name.removesuffix(_UNIT).lower()).strip("_")


def value_of(text: str) -> Value:
    """Return a number, a truth value, or the text itself."""
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        text = text.strip()
        return _TRUTH.get(text, text)
