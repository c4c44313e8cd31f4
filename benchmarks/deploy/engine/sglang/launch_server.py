"""The benchmark's server: ready 2 s after its process began, answers at once, stops at SIGTERM."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sglang.srt.server_args import prepare_server_args  # type: ignore[import-not-found]

READY_AFTER = 2.0


def since_start() -> float:
    """Return the seconds since the kernel started this process."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    uptime = time.clock_gettime(time.CLOCK_BOOTTIME)
    return uptime - ticks / os.sysconf("SC_CLK_TCK")


class Face(BaseHTTPRequestHandler):
    """Health, the model's name, and one answer to every question."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # as uvicorn, under SGLang, does
    name = ""

    def do_GET(self) -> None:
        """Answer what a deploy asks."""
        self._say(
            {"data": [{"id": self.name, "max_model_len": 4096}]} if "models" in self.path else {}
        )

    def do_POST(self) -> None:
        """Answer a chat."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        message = {"role": "assistant", "content": "The capital of France is Paris."}
        self._say({
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 8, "completion_tokens": 7, "total_tokens": 15},
        })  # fmt: skip

    def _say(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Load for two seconds, then serve."""
    given = prepare_server_args(sys.argv[1:]).given
    Face.name = given.served_model_name or given.model_path
    print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] server_args=ServerArgs()", flush=True)
    time.sleep(max(0.0, READY_AFTER - since_start()))
    with ThreadingHTTPServer((given.host, given.port), Face) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(
            f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] The server is fired up and ready to roll!",
            flush=True,
        )
        threading.Event().wait()


if __name__ == "__main__":
    main()
