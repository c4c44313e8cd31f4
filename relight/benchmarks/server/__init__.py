"""Small questions to the server under test: who else is served, and an empty prefix cache."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from relight.benchmarks import Target
from relight.connections import Connection
from relight.core.measure.chat_stream import printable

if TYPE_CHECKING:
    import httpx


def open_client(target: Target, connection: Connection) -> httpx.Client:
    """Return an HTTP client whose requests start on the host."""
    import httpx  # noqa: PLC0415 - start-up time: only a benchmark needs it

    return httpx.Client(
        transport=connection.transport(),
        base_url=target.base_url,
        headers=dict(target.headers),
        timeout=30.0,
        trust_env=False,
    )


def get(client: httpx.Client, path: str) -> tuple[Any, float | None]:
    """Return a JSON answer, or None, and the ms that it took."""
    import httpx  # noqa: PLC0415 - start-up time: only a benchmark needs it

    begun = time.monotonic()
    try:
        answer: Any = client.get(path).json()
    except (httpx.HTTPError, ValueError, OSError, RecursionError):
        return None, None
    return answer, 1000 * (time.monotonic() - begun)


def alone(running: int | None) -> str:
    """Return why the prefix cache must be kept, or nothing when nobody else is served."""
    if running is None:
        return "prefix cache kept: the server does not say whether it serves others"
    if running > 0:
        return f"prefix cache kept: {running} requests of others were running"
    return ""


def flush(client: httpx.Client, running: int | None) -> str:
    """Empty the prefix cache where nobody else is served; return why not, or nothing."""
    import httpx  # noqa: PLC0415 - start-up time: only a benchmark needs it

    if kept := alone(running):
        return kept
    try:
        status = client.post("/flush_cache").status_code
    except (httpx.HTTPError, OSError) as error:
        return f"prefix cache kept: {printable(str(error), 100)}"
    return "" if status == 200 else f"prefix cache kept: /flush_cache answered {status}"
