"""Bodies of requests as SGLang reads them: what is asked, or the 400 that it answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from relight.standin.answers import Plan, count_tokens, plan
from relight.standin.settings import Settings

_TEMPLATE_TOKENS = 8
_LINES = {
    "/v1/chat/completions": ("openai_v1_chat_completions", 1388),
    "/v1/completions": ("openai_v1_completions", 1377),
    "/generate": ("generate_request", 700),
}


class Refused(Exception):
    """The request is answered with `code` and this body."""

    def __init__(self, body: dict[str, Any], code: int = 400, *, for_length: bool = False) -> None:
        super().__init__(str(body.get("message", body)))
        self.body = body
        self.code = code
        self.for_length = for_length


@dataclass(frozen=True)
class Asked:
    """One thing to answer."""

    plan: Plan
    prompt_tokens: int
    model: str
    stream: bool
    include_usage: bool
    stops: tuple[str, ...]


def invalid(path: str, fault: dict[str, Any]) -> Refused:
    """The 400 of a body that does not validate."""
    name, line = _LINES.get(path, ("handler", 1))
    message = (
        f"1 validation error:\n  {fault!r}\n\n  File "
        '"/opt/sglang/venv/lib/python3.11/site-packages/sglang/srt/entrypoints/http_server.py", '
        f"line {line}, in {name}\n    POST {path} [{fault!r}]"
    )
    body = {
        "object": "error",
        "message": message,
        "type": "Bad Request",
        "param": None,
        "code": 400,
    }
    return Refused(body)


def read_json(path: str, data: bytes) -> dict[str, Any]:
    """The body as an object; raises Refused."""
    try:
        body = json.loads(data)
    except ValueError as error:
        place = getattr(error, "pos", 0)
        why = getattr(error, "msg", str(error))
        fault: dict[str, Any] = {
            "type": "json_invalid",
            "loc": ("body", place),
            "msg": "JSON decode error",
            "input": {},
            "ctx": {"error": why},
        }
        raise invalid(path, fault) from None
    if not isinstance(body, dict):
        fault = {
            "type": "model_attributes_type",
            "loc": ("body",),
            "msg": "Input should be a valid dictionary or object to extract fields from",
            "input": body,
        }
        raise invalid(path, fault)
    return body


def _bad(message: str, *, for_length: bool) -> Refused:
    body = {
        "object": "error",
        "message": message,
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    }
    return Refused(body, for_length=for_length)


def _room(settings: Settings, tokens: int, limit: int | None) -> int | None:
    context = settings.context_length
    if tokens >= context:
        raise _bad(
            f"The input ({tokens} tokens) is longer than the model's context length "
            f"({context} tokens).",
            for_length=True,
        )
    if limit is not None and tokens + limit > context:
        raise _bad(
            f"Requested token count exceeds the model's maximum context length of {context} "
            f"tokens. You requested a total of {tokens + limit} tokens: {tokens} tokens from the "
            f"input messages and {limit} tokens for the completion. Please reduce the number of "
            "tokens in the input messages or the completion to fit within the limit.",
            for_length=False,
        )
    if tokens >= settings.total_tokens:
        raise _bad(
            f"Input length ({tokens} tokens) exceeds the maximum allowed length "
            f"({settings.total_tokens} tokens). Use a shorter input or enable "
            "--allow-auto-truncate.",
            for_length=False,
        )
    return limit


def _stops(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def _content(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else ""
    if isinstance(content, list):
        parts = [part.get("text", "") for part in content if isinstance(part, dict)]
        return "".join(str(part) for part in parts)
    return str(content or "")


def read_chat(settings: Settings, body: dict[str, Any]) -> Asked:
    """A chat request; raises Refused."""
    path = "/v1/chat/completions"
    messages = body.get("messages")
    fault: dict[str, Any]
    if "messages" not in body:
        shown = {**body, "tool_choice": "none"}
        fault = {
            "type": "missing",
            "loc": ("body", "messages"),
            "msg": "Field required",
            "input": shown,
        }
        raise invalid(path, fault)
    if not isinstance(messages, list):
        fault = {
            "type": "list_type",
            "loc": ("body", "messages"),
            "msg": "Input should be a valid list",
            "input": messages,
        }
        raise invalid(path, fault)
    texts = [_content(message) for message in messages]
    tokens = sum(map(count_tokens, texts)) + _TEMPLATE_TOKENS
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    template = body.get("chat_template_kwargs") or {}
    thinks = (
        settings.values["reasoning_parser"] is not None
        and template.get("enable_thinking") is not False
    )
    return _asked(settings, texts[-1] if texts else "", tokens, limit, body, thinks=thinks)


def read_completion(settings: Settings, body: dict[str, Any]) -> Asked:
    """A text completion; raises Refused."""
    prompt = body.get("prompt")
    if prompt is None:
        fault = {
            "type": "missing",
            "loc": ("body", "prompt"),
            "msg": "Field required",
            "input": body,
        }
        raise invalid("/v1/completions", fault)
    text, tokens = _prompt(prompt)
    return _asked(settings, text, tokens, body.get("max_tokens") or 16, body, chat=False)


def read_generate(settings: Settings, body: dict[str, Any]) -> Asked:
    """A request to /generate; raises Refused."""
    sampling = body.get("sampling_params") or {}
    text, tokens = _prompt(body.get("text") or body.get("input_ids") or "")
    limit = sampling.get("max_new_tokens", 128)
    return _asked(settings, text, tokens, limit, {**sampling, **body}, chat=False)


def _prompt(prompt: Any) -> tuple[str, int]:
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], (str, list)):
        prompt = prompt[0]
    if isinstance(prompt, list):
        return " ".join(map(str, prompt)), len(prompt)
    return str(prompt), max(1, count_tokens(str(prompt)))


def _asked(
    settings: Settings,
    text: str,
    tokens: int,
    limit: int | None,
    body: dict[str, Any],
    *,
    thinks: bool = False,
    chat: bool = True,
) -> Asked:
    options = body.get("stream_options") or {}
    room = _room(settings, tokens, None if limit is None else int(limit))
    made = plan(text, room, ignore_eos=body.get("ignore_eos") is True, thinks=thinks, chat=chat)
    return Asked(
        plan=made,
        prompt_tokens=tokens,
        model=str(body.get("model") or settings.served_name),
        stream=body.get("stream") is True,
        include_usage=options.get("include_usage") is True,
        stops=_stops(body.get("stop")),
    )
