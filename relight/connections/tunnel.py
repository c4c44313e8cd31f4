"""Sockets that start on the host: httpcore's network over direct-tcpip channels of SSH."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore
import paramiko

from relight.connections.login import Login
from relight.errors import HostError, Unreachable

_LOST = (paramiko.SSHException, OSError, EOFError)
_NO_LIMIT = 3600.0  # the watch over a silent peer ends the wait long before
_PROHIBITED = 1  # SSH_OPEN_ADMINISTRATIVELY_PROHIBITED, RFC 4254 section 5.1


class TunnelBackend(httpcore.NetworkBackend):
    """Opens each connection as a channel of its own, from any thread."""

    def __init__(self, host: str, login: Callable[[], Login], counted: Callable[[], None]) -> None:
        self._host = host
        self._login = login
        self._counted = counted

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Open a connection from the host to `host:port`.

        Raises HostError when the SSH server forbids forwarding, Unreachable when the host is lost,
        httpcore.ConnectError when nothing listens there.
        """
        del local_address, socket_options
        login = self._login()
        self._counted()
        try:
            channel = login.transport.open_channel(
                "direct-tcpip", (host, port), ("127.0.0.1", 0), timeout=timeout or _NO_LIMIT
            )
        except paramiko.ChannelException as error:
            if error.code == _PROHIBITED:
                raise HostError(
                    self._host,
                    f"its SSH server refuses to forward a connection to {host}:{port}",
                    "set AllowTcpForwarding (and PermitOpen) in its sshd_config",
                ) from error
            raise httpcore.ConnectError(f"{self._host}: {host}:{port}: {error.text}") from error
        except _LOST as error:
            if login.alive:
                raise httpcore.ConnectTimeout(f"{self._host}: {host}:{port}: {error}") from error
            raise Unreachable(self._host, login.lost) from error
        return _TunnelStream(self._host, login, channel)


class _TunnelStream(httpcore.NetworkStream):
    def __init__(self, host: str, login: Login, channel: paramiko.Channel) -> None:
        self._host = host
        self._login = login
        self._channel = channel

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._channel.settimeout(timeout)
        try:
            piece = self._channel.recv(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout(f"{self._host}: no answer in time") from error
        except _LOST as error:
            raise self._broken(httpcore.ReadError) from error
        if not piece and not self._login.alive:
            raise Unreachable(self._host, self._login.lost)
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._channel.settimeout(timeout)
        try:
            self._channel.sendall(buffer)
        except TimeoutError as error:
            raise httpcore.WriteTimeout(f"{self._host}: it takes no data") from error
        except _LOST as error:
            raise self._broken(httpcore.WriteError) from error

    def close(self) -> None:
        with contextlib.suppress(*_LOST):
            self._channel.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        del ssl_context, server_hostname, timeout
        raise httpcore.UnsupportedProtocol("SSH encrypts the way already: use http, not https")

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            channel = self._channel
            return channel.recv_ready() or channel.eof_received or channel.closed
        return None

    def _broken(self, kind: type[Exception]) -> Exception:
        if self._login.alive:
            return kind(f"{self._host}: the connection inside SSH broke")
        return Unreachable(self._host, self._login.lost)
