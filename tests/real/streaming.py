"""Streamed answers that run, one after another, while something else happens to their server."""

from __future__ import annotations

import contextlib
import threading
from functools import partial
from typing import Final

import httpx

from tests.deadline import until
from tests.real.rig import Ended, Rig

# With the prompt, almost all of the tiny model's context: 5 s or more of decoding on free cores.
TOKENS: Final = 1900
# Two, begun one after the other, so that one runs while the other is between two answers.
READERS: Final = 2
DONE: Final = "data: [DONE]"
ANSWER_SECONDS: Final = 600.0


class Streams:
    """Long answers, asked for again and again in the background until it is enough."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._enough = threading.Event()
        self._answers: list[list[str]] = []
        self._readers = [threading.Thread(target=self._read) for _ in range(READERS)]

    def begin(self) -> None:
        """Return once each reader has the beginning of an answer."""
        for number, reader in enumerate(self._readers, start=1):
            reader.start()
            until(partial(self._has, number), 240, "a first piece")

    def _has(self, answers: int) -> bool:
        return len(self._answers) >= answers

    def running(self) -> list[list[str]]:
        """Return the answers that have begun and are not at their end; each grows as it is read."""
        return [answer for answer in list(self._answers) if answer[-1] != DONE]

    def end(self) -> None:
        """Ask for no more; return once every answer has ended, or has broken off."""
        self._enough.set()
        for reader in self._readers:
            reader.join(ANSWER_SECONDS)

    def _read(self) -> None:
        body = {"model": "tiny", "prompt": "hello", "max_tokens": TOKENS, "ignore_eos": True}
        # What was asked at the very end may find nobody; what had begun is held by who looks.
        with httpx.Client(timeout=ANSWER_SECONDS) as http, contextlib.suppress(httpx.HTTPError):
            while not self._enough.is_set():
                with http.stream("POST", self._url, json={**body, "stream": True}) as answer:
                    lines = (line for line in answer.iter_lines() if line)
                    begun = [next(lines, "nothing")]
                    self._answers.append(begun)
                    begun.extend(lines)


def stopped_under_load(rig: Rig) -> Ended:
    """Stop the service while answers run; hold that those which ran came to their end."""
    streams = Streams(f"{rig.url}/v1/completions")
    streams.begin()
    process = rig.start("stop", "--host", rig.host)
    try:
        until(lambda: "SIGTERM received" in rig.log().read_text(), 240, "the end being asked for")
        running = streams.running()
        streams.end()
        said, _ = process.communicate(timeout=ANSWER_SECONDS)
    finally:
        process.kill()
        process.wait()
        streams.end()
    assert running, "no answer ran when the server was told to end"
    assert all(answer[-1] == DONE for answer in running), [answer[-1] for answer in running]
    return Ended(process.returncode, said)
