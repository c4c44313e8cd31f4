"""Bodies of answers in SGLang's shapes: chat, completion, /generate; whole and streamed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from relight.standin.asking import Asked
from relight.standin.engine import Engine, Stream

_EOS = 151645


@dataclass
class Said:
    """What has been said so far."""

    thought: str = ""
    text: str = ""
    tokens: int = 0
    thought_tokens: int = 0
    reason: str | None = None
    stop: int | str | None = None


def listen(stream: Stream, asked: Asked) -> Iterator[tuple[str, str, Said]]:
    """Rounds as (thought, text, all so far); ends early at a stop word."""
    said = Said()
    for event in stream.rounds():
        tokens, thought_tokens = event["t"], event["r"]
        thought = "".join(tokens[:thought_tokens])
        text = "".join(tokens[thought_tokens:])
        said.tokens += len(tokens)
        said.thought_tokens += thought_tokens
        found = [stop for stop in asked.stops if stop in said.text + text]
        if found:
            whole = (said.text + text).split(found[0])[0]
            text = whole[len(said.text) :]
            said.reason, said.stop = "stop", found[0]
        elif "end" in event:
            said.reason = event["end"]
            said.stop = _EOS if said.reason == "stop" else None
        said.thought += thought
        said.text += text
        yield thought, text, said
        if said.reason is not None:
            return


def usage(engine: Engine, asked: Asked, said: Said) -> dict[str, Any]:
    """The usage block."""
    counted: dict[str, Any] = {
        "prompt_tokens": asked.prompt_tokens,
        "total_tokens": asked.prompt_tokens + said.tokens,
        "completion_tokens": said.tokens,
        "prompt_tokens_details": None,
        "reasoning_tokens": said.thought_tokens,
    }
    if engine.settings.profile.weight_versions:
        counted["completion_tokens_details"] = None
    return counted


def _metadata(engine: Engine, said: Said) -> dict[str, Any]:
    data: dict[str, Any] = {"weight_version": "default"}
    if engine.settings.profile.weight_versions:
        data["weight_versions"] = [{"version": "default", "start": 0, "end": said.tokens}]
    return data


def chat_body(engine: Engine, asked: Asked, said: Said) -> dict[str, Any]:
    """A whole chat.completion."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": said.text if said.text or not said.thought else None,
        "reasoning_content": said.thought or None,
    }
    if engine.settings.profile.null_keys:
        message["tool_calls"] = None
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": said.reason,
        "matched_stop": said.stop,
    }
    return _whole(engine, asked, said, "chat.completion", choice)


def text_body(engine: Engine, asked: Asked, said: Said) -> dict[str, Any]:
    """A whole text_completion."""
    choice = {
        "index": 0,
        "text": said.text,
        "logprobs": None,
        "finish_reason": said.reason,
        "matched_stop": said.stop,
    }
    return _whole(engine, asked, said, "text_completion", choice)


def _whole(
    engine: Engine, asked: Asked, said: Said, kind: str, choice: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": uuid.uuid4().hex,
        "object": kind,
        "created": int(time.time()),
        "model": asked.model,
        "choices": [choice],
        "usage": usage(engine, asked, said),
        "metadata": _metadata(engine, said),
    }


def generate_body(
    engine: Engine, asked: Asked, said: Said, rid: str, took: float
) -> dict[str, Any]:
    """The answer of /generate; also each streamed state of it."""
    reason: dict[str, Any] | None = None
    if said.reason == "length":
        reason = {"type": "length", "length": said.tokens}
    elif said.reason is not None:
        reason = {"type": "stop", "matched": said.stop}
    meta: dict[str, Any] = {
        "id": rid,
        "finish_reason": reason,
        "prompt_tokens": asked.prompt_tokens,
        "weight_version": "default",
        "completion_tokens": said.tokens,
        "cached_tokens": 0,
        "dp_rank": None,
        "e2e_latency": took,
    }
    if engine.settings.speculative and said.tokens > 1:
        meta["spec_accept_length"] = engine.settings.accept_len
    return {"text": said.text, "output_ids": list(range(100, 100 + said.tokens)), "meta_info": meta}


class Chunks:
    """Chunks of one streamed answer, as dictionaries."""

    def __init__(self, engine: Engine, asked: Asked, *, chat: bool) -> None:
        self._engine = engine
        self._asked = asked
        self._chat = chat
        self._nulls = engine.settings.profile.null_keys
        self._id = uuid.uuid4().hex
        self._created = int(time.time())

    def _chunk(self, choices: list[dict[str, Any]], counted: Any = None) -> dict[str, Any]:
        chunk: dict[str, Any] = {
            "id": self._id,
            "object": "chat.completion.chunk" if self._chat else "text_completion",
            "created": self._created,
            "model": self._asked.model,
            "choices": choices,
        }
        if counted is not None or self._nulls:
            chunk["usage"] = counted
        return chunk

    def _choice(self, said: Said | None, **fields: Any) -> dict[str, Any]:
        return {
            "index": 0,
            **fields,
            "logprobs": None,
            "finish_reason": None if said is None else said.reason,
            "matched_stop": None if said is None else said.stop,
        }

    def _delta(self, **fields: Any) -> dict[str, Any]:
        if self._nulls:
            empty = {"role": None, "content": None, "reasoning_content": None, "tool_calls": None}
            return {**empty, **fields}
        return {"reasoning_content": None, **fields}

    def first(self) -> dict[str, Any] | None:
        """The chunk that names the role; none for a text completion."""
        if not self._chat:
            return None
        return self._chunk([self._choice(None, delta=self._delta(role="assistant", content=""))])

    def part(self, thought: str, text: str) -> Iterator[dict[str, Any]]:
        """The chunks of one round."""
        if not self._chat:
            if text:
                yield self._chunk([self._choice(None, text=text)])
            return
        if thought:
            yield self._chunk([self._choice(None, delta=self._delta(reasoning_content=thought))])
        if text:
            yield self._chunk([self._choice(None, delta=self._delta(content=text))])

    def last(self, said: Said) -> Iterator[dict[str, Any]]:
        """The chunk with the reason, and the one with the usage where it was asked for."""
        fields: dict[str, Any] = {"delta": self._delta()} if self._chat else {"text": ""}
        yield self._chunk([self._choice(said, **fields)])
        if self._asked.include_usage:
            yield self._chunk([], usage(self._engine, self._asked, said))
