"""The HTTP face: SGLang's endpoints of a version, its status codes, its access lines."""

from __future__ import annotations

import http
import http.server
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from relight.standin import about, asking, replies
from relight.standin.engine import STARTING, UNHEALTHY, UP, Engine
from relight.standin.replies import Said, listen

_OPEN = ("/health", "/health_generate", "/ready", "/ping", "/metrics")
_FLUSHED = (
    "Cache flushed.\nPlease check backend logs for more details. (When there are running or "
    "waiting requests, the operation will not be performed.)\n"
)


class Service(http.server.ThreadingHTTPServer):
    """The listening socket, and the engine behind it."""

    daemon_threads = True
    request_queue_size = 2048

    def __init__(self, address: tuple[str, int], engine: Engine) -> None:
        self.engine = engine
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Handler)

    def server_bind(self) -> None:
        """Bind without the name lookup of http.server."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Service

    def version_string(self) -> str:
        """The server's name in the header."""
        return "uvicorn"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """SGLang's access lines are written where the status is sent."""

    def do_GET(self) -> None:
        """Answer a GET."""
        self._serve("GET")

    def do_POST(self) -> None:
        """Answer a POST."""
        self._serve("POST")

    def _serve(self, method: str) -> None:
        length = int(self.headers.get("content-length") or 0)
        data = self.rfile.read(length) if length else b""
        engine = self.server.engine
        while engine.frozen:
            time.sleep(1)
        self._path = path = self.path.partition("?")[0]
        work = ROUTES.get((method, path))
        if work is None or not self._exists(path):
            self._json({"detail": "Not Found"}, 404)
        elif self._locked(path):
            self._json({"error": "Unauthorized"}, 401)
        else:
            try:
                self._data = data
                work(self)
            except asking.Refused as refused:
                if refused.for_length:
                    engine.leak()
                self._json(refused.body, refused.code)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    def _exists(self, path: str) -> bool:
        settings = self.server.engine.settings
        profile = settings.profile
        return {
            "/ready": profile.has_ready,
            "/get_load": profile.has_get_load,
            "/freeze_gc": profile.freeze_gc,
            "/metrics": bool(settings.values["enable_metrics"]),
        }.get(path, True)

    def _locked(self, path: str) -> bool:
        key = self.server.engine.settings.values["api_key"]
        if not key or path in _OPEN:
            return False
        return self.headers.get("authorization") != f"Bearer {key}"

    def _head(self, code: int, headers: dict[str, str]) -> None:
        host, port = self.client_address[0], self.client_address[1]
        phrase = http.HTTPStatus(code).phrase
        self.server.engine.journal.access(
            f'{host}:{port} - "{self.command} {self.path} HTTP/1.1" {code} {phrase}'
        )
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _body(self, data: bytes, code: int, kind: str) -> None:
        headers = {"content-length": str(len(data))}
        if kind:
            headers["content-type"] = kind
        self._head(code, headers)
        self.wfile.write(data)

    def _json(self, body: Any, code: int = 200) -> None:
        text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        self._body(text.encode("utf-8", "replace"), code, "application/json")

    def health(self) -> None:
        """503 while starting or draining, else one token."""
        engine = self.server.engine
        if engine.status == STARTING or engine.draining:
            return self._body(b"", 503, "")
        began, wall = time.monotonic(), time.time()
        if not engine.probe():
            clock = time.strftime("%H:%M:%S", time.localtime(wall))
            heard = time.strftime("%H:%M:%S", time.localtime(engine.heard))
            engine.status = UNHEALTHY
            engine.journal.error(
                "Health check failed. Server couldn't get a response from detokenizer for last 20 "
                f"seconds. tic start time: {clock}. last_heartbeat time: {heard}"
            )
            return self._body(b"", 503, "")
        engine.status = UP
        time.sleep(max(0.0, began + engine.settings.real(1.0) - time.monotonic()))
        return self._body(b"", 200, "")

    def ready(self) -> None:
        """200 when up and not draining; no token is made."""
        engine = self.server.engine
        self._body(b"", 200 if engine.status == UP and not engine.draining else 503, "")

    def nothing(self) -> None:
        """200 with an empty body."""
        self._body(b"", 200, "")

    def flush(self) -> None:
        """The cache is flushed, for what it is worth."""
        self._body(_FLUSHED.encode(), 200, "text/plain; charset=utf-8")

    def info(self) -> None:
        """One of the pages about the server."""
        engine, path = self.server.engine, self._path
        if path.startswith("/get_"):
            better = "/v1/loads" if path == "/get_load" else path.replace("/get_", "/")
            engine.journal.info(
                f"Endpoint '{path}' is deprecated and will be removed in a future version. "
                f"Please use '{better}' instead."
            )
        self._json(PAGES[path](engine))

    def metrics(self) -> None:
        """The counters in Prometheus's text."""
        text = about.metrics(self.server.engine).encode()
        self._body(text, 200, "text/plain; version=0.0.4; charset=utf-8")

    def chat(self) -> None:
        """A chat completion, whole or streamed."""
        engine = self.server.engine
        body = asking.read_json(self._path, self._data)
        asked = asking.read_chat(engine.settings, body)
        wanted = body.get("response_format") or {}
        old_cpu = not engine.settings.gpu and engine.settings.profile.leaks_refused
        if old_cpu and wanted.get("type") == "json_schema":
            engine.crash("RuntimeError: Unsupported device: cpu")
        self._answer(asked, chat=True)

    def completion(self) -> None:
        """A text completion, whole or streamed."""
        body = asking.read_json(self._path, self._data)
        asked = asking.read_completion(self.server.engine.settings, body)
        self._answer(asked, chat=False)

    def generate(self) -> None:
        """SGLang's own /generate."""
        engine = self.server.engine
        body = asking.read_json(self._path, self._data)
        asked = asking.read_generate(engine.settings, body)
        stream = engine.submit(asked.plan, asked.prompt_tokens, warmup=engine.status == STARTING)
        began = time.monotonic()

        def states() -> Iterator[tuple[Said, dict[str, Any]]]:
            for _, _, said in listen(stream, asked):
                took = time.monotonic() - began
                yield said, replies.generate_body(engine, asked, said, stream.rid, took)

        if asked.stream:
            self._events(stream, states())
            return
        said, answer = list(states())[-1]
        engine.finish(stream, said.tokens)
        self._json([answer] if isinstance(body.get("text"), list) else answer)

    def _answer(self, asked: asking.Asked, *, chat: bool) -> None:
        engine = self.server.engine
        stream = engine.submit(asked.plan, asked.prompt_tokens, warmup=engine.status == STARTING)
        if asked.stream:
            chunks = replies.Chunks(engine, asked, chat=chat)

            def parts() -> Iterator[tuple[Said, dict[str, Any]]]:
                first = chunks.first()
                for thought, text, said in listen(stream, asked):
                    if first is not None:
                        yield said, first
                        first = None
                    for chunk in chunks.part(thought, text):
                        yield said, chunk
                    if said.reason is not None:
                        for chunk in chunks.last(said):
                            yield said, chunk

            self._events(stream, parts())
            return
        *_, (_, _, said) = listen(stream, asked)
        engine.finish(stream, said.tokens)
        whole = replies.chat_body if chat else replies.text_body
        self._json(whole(engine, asked, said))

    def _events(self, stream: Any, events: Iterator[tuple[Said, dict[str, Any]]]) -> None:
        engine = self.server.engine
        tokens = 0
        try:
            self._head(
                200,
                {
                    "content-type": "text/event-stream; charset=utf-8",
                    "transfer-encoding": "chunked",
                },
            )
            for said, event in events:
                tokens = said.tokens
                self._chunk(json.dumps(event, separators=(",", ":"), ensure_ascii=False))
            self._chunk("[DONE]")
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            engine.abandon(stream)
            raise
        engine.finish(stream, tokens)

    def _chunk(self, text: str) -> None:
        data = f"data: {text}\n\n".encode("utf-8", "replace")
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


PAGES: dict[str, Callable[[Engine], Any]] = {
    "/v1/models": about.models,
    "/model_info": about.model_info,
    "/get_model_info": about.model_info,
    "/server_info": about.server_info,
    "/get_server_info": about.server_info,
    "/v1/loads": about.loads,
    "/get_load": about.get_load,
}
ROUTES: dict[tuple[str, str], Callable[[Handler], None]] = {
    ("GET", "/health"): Handler.health,
    ("GET", "/health_generate"): Handler.health,
    ("GET", "/ready"): Handler.ready,
    ("GET", "/ping"): Handler.nothing,
    ("GET", "/metrics"): Handler.metrics,
    ("GET", "/flush_cache"): Handler.flush,
    ("POST", "/flush_cache"): Handler.flush,
    ("POST", "/abort_request"): Handler.nothing,
    ("POST", "/freeze_gc"): Handler.nothing,
    ("POST", "/generate"): Handler.generate,
    ("POST", "/v1/completions"): Handler.completion,
    ("POST", "/v1/chat/completions"): Handler.chat,
    **{("GET", path): Handler.info for path in PAGES},
}


def listen_on(service: Service) -> None:
    """Serve in a thread of its own."""
    threading.Thread(target=service.serve_forever, args=(0.2,), daemon=True).start()
