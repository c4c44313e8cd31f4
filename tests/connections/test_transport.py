"""HTTP that starts on the host: whole, streamed, many at once, and clear when it is refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from relight.connections import Connection, connect
from relight.errors import HostError, Unreachable
from tests import sshd as servers
from tests.connections.conftest import require_sshd


class Echo(BaseHTTPRequestHandler):
    """Answers a POST with its body, `/slow` never, and `/stream` in three pieces 0.2 s apart."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Echo."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        """Stream, or say nothing."""
        if self.path == "/slow":
            threading.Event().wait(10)
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (b"one", b"two", b"six"):
            self.wfile.write(b"3\r\n" + piece + b"\r\n")
            time.sleep(0.2)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


class Patient(ThreadingHTTPServer):
    """A server that keeps many callers waiting; five at once, the default, would be reset."""

    request_queue_size = 128


@pytest.fixture
def site() -> Iterator[str]:
    """An HTTP server on loopback."""
    with Patient(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def client(connection: Connection) -> Iterator[httpx.Client]:
    """An HTTP client whose connections start on the host."""
    with httpx.Client(transport=connection.transport(), timeout=10) as opened:
        yield opened


@pytest.mark.parametrize("size", [0, 1, 5 << 20])
def test_bodies_arrive_whole(client: httpx.Client, site: str, size: int) -> None:
    """A request and its answer carry their bodies whole, of any size and bytes."""
    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    assert client.post(site, content=body).content == body


def test_a_stream_arrives_as_it_is_sent(client: httpx.Client, site: str) -> None:
    """Pieces of an answer arrive apart, not when the whole is there."""
    started = time.monotonic()
    with client.stream("GET", f"{site}/stream") as answer:
        arrived = [(piece, time.monotonic() - started) for piece in answer.iter_raw()]
    assert b"".join(piece for piece, _ in arrived) == b"onetwosix"
    assert arrived[-1][1] - arrived[0][1] > 0.3


def test_many_at_once(client: httpx.Client, connection: Connection, site: str) -> None:
    """Forty threads of requests get each their own answer, while steps go on beside them."""
    wrong: list[str] = []

    def ask(number: int) -> None:
        for turn in range(3):
            text = f"{number}-{turn}"
            if client.post(site, content=text).text != text:
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for turn in range(20):
        assert connection.control(f"echo {turn}").out == f"{turn}\n"
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong


def test_a_connection_is_used_again(
    client: httpx.Client, connection: Connection, site: str
) -> None:
    """A request over a connection that stands is one wait for an answer."""
    client.post(site, content=b"x")
    before = connection.round_trips
    client.post(site, content=b"x")
    assert connection.round_trips - before == 1


def test_a_slow_answer_times_out(client: httpx.Client, site: str) -> None:
    """The client's own limits hold: httpx's ReadTimeout, and the next request works."""
    with pytest.raises(httpx.ReadTimeout):
        client.get(f"{site}/slow", timeout=0.3)
    assert client.post(site, content=b"x").content == b"x"


def test_nobody_listens(client: httpx.Client) -> None:
    """A port without a listener is httpx's ConnectError: the server is not up yet."""
    with pytest.raises(httpx.ConnectError):
        client.get(f"http://127.0.0.1:{servers.free_port()}/")


@pytest.mark.ssh
def test_forbidden_forwarding_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that forbids forwarding is an error of the host that names the setting."""
    require_sshd()
    server = servers.start(tmp_path / "sshd", forwarding=False)
    monkeypatch.setenv("HOME", str(server.home))
    connection = connect(server.address())
    try:
        with (
            httpx.Client(transport=connection.transport()) as client,
            pytest.raises(HostError, match=r"refuses to forward .* AllowTcpForwarding"),
        ):
            client.get("http://127.0.0.1:1/")
    finally:
        connection.close()
        server.stop()


@pytest.mark.ssh
@pytest.mark.parametrize("harm", ["silence", "drop"])
def test_a_lost_host_ends_a_request(own_sshd: servers.Sshd, site: str, harm: str) -> None:
    """An answer that is under way when the host is lost ends with Unreachable, limit or not."""
    relay = own_sshd.relay()
    connection = connect(own_sshd.address(port=relay.port, timeout=1.0))
    with httpx.Client(transport=connection.transport(), timeout=None) as client:
        client.post(site, content=b"x")
        threading.Timer(0.3, getattr(relay, harm)).start()
        started = time.monotonic()
        with pytest.raises(Unreachable):
            client.get(f"{site}/slow")
        assert time.monotonic() - started < 8
    connection.close()


@pytest.mark.ssh
def test_requests_go_on_after_a_drop(own_sshd: servers.Sshd, site: str) -> None:
    """A transport made before a drop serves requests after it, over a new connection."""
    connection = connect(own_sshd.address())
    with httpx.Client(transport=connection.transport(), timeout=10) as client:
        client.post(site, content=b"x")
        own_sshd.drop()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                answer = client.post(site, content=b"again")
            except (httpx.TransportError, Unreachable):
                continue
            assert answer.content == b"again"
            break
        else:
            pytest.fail("no request got through")
    connection.close()
