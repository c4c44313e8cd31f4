"""A stand-in as a real process for a test: started as a zipapp, read from its log, always ended."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.deadline import until

READY = "The server is fired up and ready to roll!"
SPEED = "0.2"


def free_port() -> int:
    """A port of loopback that nobody holds now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def alive(pid: int) -> bool:
    """Is the process there, and no zombie?"""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def environment(**variables: str) -> dict[str, str]:
    """The environment of a stand-in: nothing of ours but PATH and what the test names."""
    named = {f"RELIGHT_STANDIN_{name.upper()}": value for name, value in variables.items()}
    return {"PATH": os.environ["PATH"], "RELIGHT_STANDIN_SPEED": SPEED, **named}


def run(pyz: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the stand-in to its end."""
    return subprocess.run(
        [sys.executable, str(pyz), *arguments],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


class Standin:
    """One running stand-in."""

    def __init__(self, pyz: Path, log: Path, port: int, *arguments: str, **variables: str) -> None:
        self.port = port
        self._log = log
        with log.open("wb") as stream:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, str(pyz), "--model-path", "standin/tiny"),
                    *("--host", "127.0.0.1", "--port", str(port), *arguments),
                ],
                env=environment(**variables),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        """All that it has written so far."""
        return self._log.read_text(encoding="utf-8")

    @property
    def messages(self) -> list[str]:
        """The lines that carry a time, without it."""
        text = self.log.replace("\r", "\n")
        return re.findall(r"^\[20[^\]]*\] (.*)$", text, re.MULTILINE)

    def says(self, text: str, seconds: float = 8.0) -> None:
        """Wait until the log holds the text."""
        until(lambda: text in self.log, seconds, f"{text!r} in the log:\n{self.log[-3000:]}")

    def ready(self) -> Standin:
        """Wait for the ready line."""
        self.says(READY)
        return self

    def ended(self, seconds: float = 8.0) -> int:
        """Wait for the end; the exit code as subprocess gives it."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"still there:\n{self.log[-3000:]}") from None

    def family(self) -> dict[str, int]:
        """Its processes by title, the main process left out; two alike count once."""
        return dict(self.children())

    def children(self) -> list[tuple[str, int]]:
        """Its processes as (title, process id), the main process left out."""
        found: list[tuple[str, int]] = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == self.process.pid:
                continue
            with contextlib.suppress(OSError):
                if os.getsid(int(entry.name)) == self.process.pid and alive(int(entry.name)):
                    title = (entry / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
                    found.append((title.decode(), int(entry.name)))
        return found

    def request(
        self, method: str, path: str, body: Any = None, *, key: str = "", timeout: float = 10
    ) -> tuple[int, bytes]:
        """One request: status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, path: str, *, key: str = "") -> tuple[int, Any]:
        """One GET: status and JSON, or the bytes where it is none."""
        status, data = self.request("GET", path, key=key)
        try:
            return status, json.loads(data)
        except ValueError:
            return status, data

    def post(self, path: str, body: Any, timeout: float = 10) -> tuple[int, Any]:
        """One POST: status and JSON."""
        status, data = self.request("POST", path, body, timeout=timeout)
        return status, json.loads(data)

    def chat(self, words: str, **fields: Any) -> dict[str, Any]:
        """One chat request that must be answered with 200."""
        body = {"messages": [{"role": "user", "content": words}], **fields}
        status, answer = self.post("/v1/chat/completions", body)
        assert status == 200, answer
        return dict(answer)

    def words(self, question: str, **fields: Any) -> str:
        """What is answered to one question."""
        return str(self.chat(question, **fields)["choices"][0]["message"]["content"])

    @contextlib.contextmanager
    def open_stream(self, words: str, **fields: Any) -> Iterator[http.client.HTTPResponse]:
        """A streamed chat, begun; the connection is closed on leaving."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        body = {"messages": [{"role": "user", "content": words}], "stream": True, **fields}
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        response = connection.getresponse()
        try:
            assert response.status == 200
            yield response
        finally:
            response.close()
            connection.close()

    def stream(self, words: str, **fields: Any) -> list[dict[str, Any]]:
        """All events of a streamed chat."""
        with self.open_stream(words, **fields) as response:
            return list(events(response))

    def stop(self) -> None:
        """End it and everything in its session."""
        pids = {self.process.pid, *(pid for _, pid in self.children())}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(5)


def events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """The events of a stream until [DONE]; raises ConnectionError where it is cut before."""
    while line := response.readline():
        if line.strip() == b"data: [DONE]":
            return
        if line.startswith(b"data: "):
            yield json.loads(line[6:])
    raise ConnectionError("the stream ended without [DONE]")


def shape(line: str) -> str:
    """A log message with every number, path and list of numbers made alike."""
    line = re.sub(r"\[[\d, ]+\]", "[N]", line)
    line = re.sub(r"-?\d+(\.\d+)*", "N", line)
    return re.sub(r"cuda graph: (True|False)", "cuda graph: B", line)


def keys(value: Any) -> Any:
    """The keys of a JSON value, all the way down, without the values."""
    if isinstance(value, dict):
        return {name: keys(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [keys(value[0])] if value else []
    return None
