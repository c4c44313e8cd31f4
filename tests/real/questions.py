"""What a server of the tiny model is asked, and what relight tells of it, whatever leads there."""

from __future__ import annotations

import json
from typing import Any, Final, Protocol

import httpx

from tests.real.rig import Ended
from tests.real.server import CHAT

MATCH: Final = "max-running-requests"


class Host(Protocol):
    """A host of a project, on which commands of relight are run."""

    def on(self, *words: str) -> Ended:
        """Run a command of relight for this host."""
        ...


def serves(url: str) -> None:
    """Hold that a chat request is answered with printable text, streams, and shows in metrics."""
    answer = httpx.post(f"{url}/v1/chat/completions", json=CHAT, timeout=240)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["usage"]["completion_tokens"] == 16
    text = body["choices"][0]["message"]["content"].replace("\n", "")
    assert text
    assert text.isascii()
    assert text.isprintable()
    streamed = {**CHAT, "stream": True}
    with httpx.stream("POST", f"{url}/v1/chat/completions", json=streamed, timeout=240) as answer:
        lines = [line for line in answer.iter_lines() if line]
    assert len(lines) > 8
    assert lines[-1] == "data: [DONE]"
    models = httpx.get(f"{url}/v1/models", timeout=60).json()
    assert [entry["id"] for entry in models["data"]] == ["tiny"]
    assert "sglang:num_running_reqs" in httpx.get(f"{url}/metrics", timeout=60).text


def events(ended: Ended) -> list[dict[str, Any]]:
    """Return the events of a command that was run with --json, which must have gone well."""
    assert ended.code == 0, ended.text
    return [json.loads(line) for line in ended.text.splitlines() if line.startswith("{")]


def is_explained(host: Host, version: str, release: str) -> None:
    """Hold that explain, diagnose, flags and bench tell of the server that runs, and leave it."""
    explained = host.on("explain", "--flag", "context-length")
    assert explained.code == 0, explained.text
    assert "asked and got" in explained.text
    assert "2048" in explained.text

    told = events(host.on("diagnose", "--json"))[-1]
    assert (told["ready"], told["class"]) == (True, None), told

    flags = host.on("flags", "--match", MATCH)
    assert flags.code == 0, flags.text
    assert version in flags.text
    assert f"--{MATCH}" in flags.text

    measured = host.on("bench")
    assert measured.code == 0, measured.text
    history = host.on("bench", "--history")
    assert history.code == 0, history.text
    assert release in history.text
