"""One streamed chat request over the connection, timed event by event."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from relight.benchmarks.prompts import Prompt
from relight.core.measure.chat_stream import Mark, mark, printable

if TYPE_CHECKING:
    import httpx

LONGEST_STREAM = 32 * 1024 * 1024
"""Bytes of one answer beyond which the server is not answering but flooding."""
LONGEST_LINE = 1024 * 1024


def body(model: str, prompt: Prompt, max_tokens: int) -> dict[str, Any]:
    """Return the request; the server is asked to count tokens along with every piece.

    `continuous_usage_stats` is SGLang's (0.5.10 to 0.5.23, entrypoints/openai/protocol.py); a
    server that does not know it counts at the end, which
    `relight.core.measure.chat_stream` allows for.
    """
    return {
        "model": model,
        "messages": [{"role": "user", "content": prompt.text}],
        "max_tokens": max_tokens,
        "temperature": prompt.temperature if prompt.temperature is not None else 0.0,
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
    }


def ask(
    client: httpx.Client, path: str, request: dict[str, Any], limit_s: float
) -> tuple[Mark, ...]:
    """Send one request and return its marks; whatever goes wrong on the way is a mark too."""
    import httpx  # noqa: PLC0415 - start-up time: only a benchmark needs it

    marks: list[Mark] = []
    begun = time.monotonic()
    deadline = begun + limit_s
    try:
        with client.stream("POST", path, json=request, timeout=limit_s) as response:
            if response.status_code != 200:
                text = response.read()[:2000].decode(errors="replace")
                return (_broken(begun, f"HTTP {response.status_code}: {printable(text, 200)}"),)
            for line in _lines(response):
                now = time.monotonic()
                if (found := mark(line, now - begun)) is not None:
                    marks.append(found)
                if now > deadline:
                    marks.append(_broken(begun, f"no end within {limit_s:.0f} s"))
                    break
    except (httpx.HTTPError, httpx.StreamError, OSError, ValueError) as error:
        marks.append(_broken(begun, f"{type(error).__name__}: {printable(str(error), 200)}"))
    return tuple(marks)


def _lines(response: httpx.Response) -> Iterator[str]:
    left = b""
    taken = 0
    for data in response.iter_bytes():
        taken += len(data)
        left += data
        if taken > LONGEST_STREAM or len(left) > LONGEST_LINE + len(data):
            raise ValueError("the answer has no end")
        *lines, left = left.split(b"\n")
        for line in lines:
            yield line.decode(errors="replace").rstrip("\r")
    if left:
        yield left.decode(errors="replace")


def _broken(begun: float, why: str) -> Mark:
    return Mark(time.monotonic() - begun, error=why)
