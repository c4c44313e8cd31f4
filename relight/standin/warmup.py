"""The warm-up: a server's first request, to itself; the ready line follows, whoever answered."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Callable
from typing import Any

from relight.standin.engine import Engine
from relight.standin.wording import plain_traceback

_TRIES = 120
READY = "The server is fired up and ready to roll!"


class WarmupFailed(Exception):
    """The request to itself failed; SGLang kills its own tree then."""


def _ask(engine: Engine, method: str, path: str, body: Any, timeout: float) -> int:
    values = engine.settings.values
    host = str(values["host"])
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    connection = http.client.HTTPConnection(host, int(values["port"]), timeout=timeout)
    headers = {"content-type": "application/json"}
    if values["api_key"]:
        headers["authorization"] = f"Bearer {values['api_key']}"
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def _find_server(engine: Engine) -> None:
    """Ask for /model_info until somebody answers; for ever where the port is held in silence."""
    refusals = 0
    while refusals < _TRIES:
        try:
            if _ask(engine, "GET", "/model_info", None, max(0.2, engine.settings.real(5))) == 200:
                return
            refusals += 1
        except (OSError, http.client.HTTPException):
            refusals += 0
        time.sleep(max(0.02, engine.settings.real(1.0)))
    raise WarmupFailed("AssertionError: res=<Response [404]>, res.text='Not Found'")


def warm_up(engine: Engine, failed: Callable[[], None]) -> None:
    """Ask, log the ready line, tell the scheduler; `failed` is called where it goes wrong."""
    settings, journal = engine.settings, engine.journal
    try:
        if not settings.values["skip_server_warmup"]:
            time.sleep(settings.real(0.4))
            _find_server(engine)
            _first_request(engine)
    except WarmupFailed as error:
        text = plain_traceback((), str(error))
        journal.error(f"Initialization failed. warmup error: {text}")
        failed()
        return
    time.sleep(settings.real(0.1))
    journal.info(READY)
    engine.tell_up()


def _first_request(engine: Engine) -> None:
    settings = engine.settings
    refused = settings.playing("warmup_failed")
    if refused is not None:
        raise WarmupFailed(refused.error)
    if settings.model.multimodal:
        message = {"role": "user", "content": "Describe this image."}
        path: str = "/v1/chat/completions"
        body: dict[str, Any] = {"model": settings.served_name, "messages": [message]}
        body["max_tokens"] = 8
    else:
        path = "/generate"
        body = {
            "text": "The capital city of France is",
            "sampling_params": {"temperature": 0, "max_new_tokens": 8},
        }
    try:
        status = _ask(engine, "POST", path, body, 600.0)
        if status != 200:
            raise WarmupFailed(f"AssertionError: res=<Response [{status}]>")
        if settings.profile.freeze_gc:
            _ask(engine, "POST", "/freeze_gc", None, 600.0)
    except OSError as error:
        raise WarmupFailed(f"requests.exceptions.ConnectionError: {error}") from error


def process_line() -> str:
    """The first line of uvicorn."""
    return f"INFO:     Started server process [{os.getpid()}]"
