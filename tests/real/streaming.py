"""A streamed answer that runs while something else happens to its server."""

from __future__ import annotations

import threading
from typing import Final

import httpx

from tests.deadline import until
from tests.real.rig import Ended, Rig

# With the prompt, almost all of the tiny model's context: 5 s or more of decoding on free cores.
TOKENS: Final = 1900
DONE: Final = "data: [DONE]"
ANSWER_SECONDS: Final = 600.0


class Stream:
    """One long answer, read in the background."""

    def __init__(self, url: str) -> None:
        self.lines: list[str] = []
        self._url = url
        self._reader = threading.Thread(target=self._read)

    def begin(self) -> None:
        """Ask, and return once the answer has begun."""
        self._reader.start()
        until(lambda: len(self.lines) > 2 or not self._reader.is_alive(), 120, "a first piece")

    def end(self) -> None:
        """Return once the answer has ended, or has broken off."""
        self._reader.join(ANSWER_SECONDS)

    @property
    def done(self) -> bool:
        """Return whether the answer came to its end."""
        return self.lines[-1:] == [DONE]

    def _read(self) -> None:
        body = {"model": "tiny", "prompt": "hello", "max_tokens": TOKENS, "ignore_eos": True}
        with (
            httpx.Client(timeout=ANSWER_SECONDS) as http,
            http.stream("POST", self._url, json={**body, "stream": True}) as answer,
        ):
            self.lines.extend(line for line in answer.iter_lines() if line)


def stopped_under_load(rig: Rig) -> Ended:
    """Stop the service while an answer runs; hold that the answer began before and was ended."""
    stream = Stream(f"{rig.url}/v1/completions")
    stream.begin()
    process = rig.start("stop", "--host", rig.host)
    try:
        until(lambda: "SIGTERM received" in rig.log().read_text(), 120, "the end being asked for")
        running = not stream.done
        said, _ = process.communicate(timeout=ANSWER_SECONDS)
    finally:
        process.kill()
        process.wait()
        stream.end()
    assert running, "the answer was over before the server was told to end"
    assert stream.done, stream.lines[-3:]
    return Ended(process.returncode, said)
