"""HTTP that starts on the host: an httpx transport over any way to open a socket there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

import httpcore
import httpx

if TYPE_CHECKING:
    from collections.abc import Iterable

_CONNECTIONS = 512


class HostTransport(httpx.BaseTransport):
    """An httpx transport over a pool of connections; usable from many threads at once.

    Each request counts as one wait. Errors keep httpx's names; what the backend raises of
    relight's own (Unreachable, HostError) passes through unchanged.
    """

    def __init__(self, backend: httpcore.NetworkBackend, counted: Callable[[], None]) -> None:
        self._counted = counted
        self._pool = httpcore.ConnectionPool(
            max_connections=_CONNECTIONS, keepalive_expiry=5.0, network_backend=backend
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request and return its response, whose body is read as it comes."""
        wire = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=cast("Iterable[bytes]", request.stream),
            extensions=request.extensions,
        )
        self._counted()
        try:
            answer = self._pool.handle_request(wire)
        except Exception as error:
            raise _named(error, request) from error
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer, request),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close every connection of the pool."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response, request: httpx.Request) -> None:
        self._answer = answer
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._answer.iter_stream()
        except Exception as error:
            raise _named(error, self._request) from error

    def close(self) -> None:
        self._answer.close()


def _named(error: Exception, request: httpx.Request) -> Exception:
    """Return httpx's error of the same name, or the error itself."""
    if not type(error).__module__.startswith("httpcore"):
        return error
    kind = getattr(httpx, type(error).__name__, httpx.TransportError)
    named: Exception = kind(str(error), request=request)
    return named
