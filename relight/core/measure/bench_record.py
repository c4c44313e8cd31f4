"""What SGLang's bench_serving writes: one JSON line a run, read into samples and a pass.

Keys as in SGLang 0.5.10 to 0.5.23 (`bench_serving.py`, from 0.5.23 on `benchmark/serving.py`), with
`--output-details`. Its own averages are not used: relight computes each figure from the details.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Sequence
from typing import Any

from relight.core.measure.chat_stream import EXCERPT, count, printable
from relight.core.measure.degenerate import repeated_share
from relight.core.measure.measurement import Pass, Sample
from relight.core.measure.rounds import chunks_of_itls, in_bursts, recover

SEED = 1
_PROGRESS = re.compile(r"(\d+)/(\d+) \[")
_LISTS = ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors")


def dataset(texts: Sequence[str]) -> str:
    """Return prompts as the JSON lines that `--dataset-name custom` reads.

    It wants two turns; the second one needs two tokens and is not used with a fixed length.
    """
    return "".join(
        json.dumps(
            {
                "conversations": [
                    {"role": "user", "content": text},
                    {"role": "assistant", "content": "x x x"},
                ]
            }
        )
        + "\n"
        for text in texts
    )


def order(names: Sequence[str], seed: int = SEED) -> tuple[str, ...]:
    """Return names in the order in which the tool sends them: it shuffles with Python's random."""
    shuffled = list(names)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - the tool's own shuffle, repeated
    return tuple(shuffled)


def progress(text: str, of: int) -> int:
    """Return how many of `of` requests are done, from the bar in the tool's output so far.

    Bars of other lengths are not the tool's: loading a tokenizer may draw some.
    """
    done = [int(done) for done, all_ in _PROGRESS.findall(text) if int(all_) == of]
    return done[-1] if done else 0


def read(
    text: str, names: Sequence[str], concurrency: int, most: int | None
) -> tuple[tuple[Sample, ...], Pass]:
    """Return the samples and the pass of one run; `names` are in the order that was sent.

    Raises ValueError, in words, for anything but one line with as many details as prompts.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        raise ValueError(f"the result holds {len(lines)} runs where one was made")
    try:
        record = json.loads(lines[0])
    except (ValueError, RecursionError):
        raise ValueError("the result is not JSON") from None
    if not isinstance(record, dict):
        raise ValueError("the result is not an object")
    lists = {name: record.get(name) for name in _LISTS}
    for name, values in lists.items():
        if not isinstance(values, list) or len(values) != len(names):
            raise ValueError(f"the result has no {name} for each of {len(names)} prompts")
    samples = tuple(
        _sample(name, concurrency, most, *(lists[key][at] for key in _LISTS))  # type: ignore[index]
        for at, name in enumerate(names)
    )
    return samples, _pass(record, samples, concurrency)


def _sample(
    name: str,
    concurrency: int,
    most: int | None,
    *details: Any,
) -> Sample:
    input_len, output_len, ttft, itls, text, error = details
    listed = itls if isinstance(itls, list) else []
    gaps = [gap for item in listed if (gap := _time(item)) is not None]
    first = _time(ttft)
    written = text if isinstance(text, str) else ""
    known = Sample(
        prompt=name,
        concurrency=concurrency,
        input_tokens=count(input_len),
        output_tokens=count(output_len) or 0,
        text_sha256=hashlib.sha256(written.encode(errors="replace")).hexdigest(),
        excerpt=printable(written, EXCERPT),
        repeated_share=repeated_share(written),
        error=printable(error.strip().splitlines()[-1], 300) if _told(error) else "",
    )
    if known.error or first is None or not gaps:
        return known
    chunks = chunks_of_itls(gaps)
    seconds = sum(gaps)
    rounds = recover(chunks, most) if concurrency == 1 else None
    return known.model_copy(
        update={
            "ttft_ms": 1000 * first,
            "e2e_ms": 1000 * (first + seconds),
            "tok_s": None if in_bursts(chunks) else len(gaps) / seconds,
            "gaps_ms": tuple(round(1000 * chunk.gap, 3) for chunk in chunks),
            "gap_tokens": tuple(chunk.tokens for chunk in chunks),
            "rounds": rounds.rounds if rounds else 0,
            "step_ms": rounds.step_ms if rounds else None,
            "tokens_per_step": rounds.tokens_per_step if rounds else None,
            "stalls": rounds.stalls if rounds else 0,
        }
    )


def _pass(record: dict[str, Any], samples: Sequence[Sample], concurrency: int) -> Pass:
    return Pass(
        concurrency=concurrency,
        seconds=_time(record.get("duration")) or 0.0,
        output_tokens=sum(one.output_tokens for one in samples),
        retokenized_tokens=count(record.get("total_output_tokens_retokenized")),
        throughput=_time(record.get("output_throughput")),
    )


def _time(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value < 1e9 else None


def _told(error: object) -> bool:
    return isinstance(error, str) and bool(error.strip())
