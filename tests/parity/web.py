"""A small web server for the differential tests: echoes, statuses, a redirect."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = 0

    def log_message(self, *_args: Any) -> None:
        """Stay silent."""

    def _send(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        """Answer by the path."""
        if self.path == "/json":
            self._send(200, b'{"a": [1, null, "x"]}', "application/json")
        elif self.path == "/redirect":
            self._send(302, b"", "text/plain", Location="/json")
        elif self.path.startswith("/status/"):
            self._send(int(self.path.rpartition("/")[2]), b"said no", "text/plain")
        elif self.path == "/flaky":
            type(self).asked += 1
            self._send(200 if type(self).asked % 3 == 0 else 503, b"", "text/plain")
        else:
            self._send(200, "plain é\n".encode(), "text/plain; charset=utf-8")

    def do_POST(self) -> None:
        """Echo what was sent."""
        size = int(self.headers.get("Content-Length") or 0)
        said = {
            "method": self.command,
            "body": self.rfile.read(size).decode(),
            "type": self.headers.get("Content-Type", ""),
            "own": self.headers.get("X-Own"),
        }
        self._send(200, json.dumps(said).encode(), "application/json")

    def do_PUT(self) -> None:
        """Echo what was sent."""
        self.do_POST()


@contextmanager
def serving() -> Iterator[int]:
    """Serve on a free port of this machine; yields the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
