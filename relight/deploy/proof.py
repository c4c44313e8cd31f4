"""Proof that a server is usable: real answers, from the expected model, through the connection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from relight.core.degenerate import repeated_share
from relight.core.failure import Diagnosis, FailureClass
from relight.core.release import Release
from relight.deploy.target import Target

_ANSWER_WITHIN = 60.0
_HEALTH_WITHIN = 25.0  # SGLang's own /health waits 20 s for a token before it says 503
_LONG = "Read this list of words and reply with one short sentence. " + " ".join(
    f"word{number}" for number in range(130)
)
_LONG_NEEDS_CONTEXT = 1024
_GARBAGE = 0.95
_TOKENS = 96  # long enough that `!!!!` for ever, what NaN decodes to, can be told from an answer


def client(target: Target, release: Release, *, timeout: float = _ANSWER_WITHIN) -> httpx.Client:
    """Return an HTTP client whose connections start on the host."""
    return httpx.Client(
        transport=target.connection.transport(),
        base_url=f"http://{_reach(release)}:{release.port}",
        timeout=timeout,
        headers=_authorization(release),
    )


def healthy(http: httpx.Client, target: Target, release: Release) -> Diagnosis | None:
    """Return what is wrong with a server that should be up: health and the model's name."""
    paths = target.engine.endpoints
    try:
        health = http.get(paths.health, timeout=_HEALTH_WITHIN)
        if health.status_code != 200:
            return _broken(
                FailureClass.RUNTIME_HANG, f"{paths.health} answers {health.status_code}"
            )
        models = http.get(paths.models, timeout=_HEALTH_WITHIN)
        names = _model_names(models)
    except (httpx.HTTPError, ValueError) as error:
        return _broken(
            FailureClass.RUNTIME_HANG, f"no answer on port {release.port}: {_say(error)}"
        )
    if release.served_name not in names:
        there = ", ".join(names) or "nothing"
        return _broken(
            FailureClass.WRONG_OUTPUT,
            f"port {release.port} serves {there}, not {release.served_name}: another server?",
        )
    return None


def usable(http: httpx.Client, target: Target, release: Release) -> Diagnosis | None:
    """Return what is wrong when asked for real: one answer, a longer prompt, two at a time."""
    wrong = healthy(http, target, release) or _ask(http, target, release, "Say hello.")
    if wrong is not None:
        return wrong
    context = release.flags.get("context-length")
    if not isinstance(context, int) or isinstance(context, bool) or context >= _LONG_NEEDS_CONTEXT:
        wrong = _ask(http, target, release, _LONG)
        if wrong is not None:
            return wrong.model_copy(update={"summary": f"on a longer prompt: {wrong.summary}"})
    with ThreadPoolExecutor(2) as pool:
        both = list(
            pool.map(
                lambda prompt: _ask(http, target, release, prompt),
                ("Name three colours.", "Count from one to five."),
            )
        )
    wrong = next((one for one in both if one is not None), None)
    if wrong is not None:
        return wrong.model_copy(update={"summary": f"with two requests at once: {wrong.summary}"})
    return None


def _ask(http: httpx.Client, target: Target, release: Release, prompt: str) -> Diagnosis | None:
    body = {
        "model": release.served_name,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": _TOKENS,
        "temperature": 0.6,
    }
    try:
        answer = http.post(target.engine.endpoints.chat, json=body)
    except httpx.TimeoutException:
        return _broken(
            FailureClass.RUNTIME_HANG, f"a chat request got no answer in {_ANSWER_WITHIN:.0f} s"
        )
    except httpx.HTTPError as error:
        return _broken(FailureClass.RUNTIME_CRASH, f"a chat request broke off: {_say(error)}")
    if answer.status_code != 200:
        return _broken(
            FailureClass.WRONG_OUTPUT,
            f"a chat request was answered {answer.status_code}: {answer.text[:200]}",
        )
    try:
        text, tokens = _content(answer.json())
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return _broken(FailureClass.WRONG_OUTPUT, "a chat answer is not in the expected shape")
    if not text and not tokens:
        return _broken(FailureClass.WRONG_OUTPUT, "a chat answer is empty")
    if repeated_share(text) > _GARBAGE:
        return _broken(FailureClass.WRONG_OUTPUT, f"a chat answer is garbage: {text[:60]!r}")
    return None


def _content(answer: Any) -> tuple[str, int]:
    message = answer["choices"][0]["message"]
    text = (message.get("content") or "") + (message.get("reasoning_content") or "")
    return str(text), int(answer.get("usage", {}).get("completion_tokens", 0))


def _model_names(response: httpx.Response) -> tuple[str, ...]:
    if response.status_code != 200:
        raise ValueError(f"{response.url.path} answers {response.status_code}")
    data = response.json()
    items = data.get("data", []) if isinstance(data, dict) else []
    return tuple(str(item.get("id")) for item in items if isinstance(item, dict))


def _reach(release: Release) -> str:
    host = release.flags.get("host")
    if not isinstance(host, str) or host in ("0.0.0.0", "::", "localhost"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _authorization(release: Release) -> dict[str, str]:
    key = release.flags.get("api-key")
    return {"Authorization": f"Bearer {key}"} if isinstance(key, str) else {}


def _say(error: Exception) -> str:
    return str(error) or type(error).__name__


def _broken(failure: FailureClass, summary: str) -> Diagnosis:
    return Diagnosis(failure=failure, summary=summary)
