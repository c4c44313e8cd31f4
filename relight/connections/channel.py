"""A pipe to a process of a host: one SSH session channel."""

from __future__ import annotations

import contextlib
import select
import time
from collections.abc import Callable

import paramiko
from paramiko.message import Message

from relight.connections.login import Login, post
from relight.connections.pipe import Chunk, NotBegun
from relight.errors import HostError, Unreachable

_PIECE = 1 << 16
_LOST = (paramiko.SSHException, OSError, EOFError)


class ChannelPipe:
    """One command of a host.

    Its channel was opened ahead, or else opening waits one round trip; the command is sent without
    a wait. A first write waits for another: sshd takes no input before the command runs.
    """

    def __init__(self, host: str, login: Login, command: str, counted: Callable[[], None]) -> None:
        self._counted = counted
        self._host = host
        self._login = login
        self._ended = False
        self._poll: select.poll | None = None
        try:
            self._channel = login.sessions.take(counted)
        except paramiko.ChannelException as error:
            raise HostError(
                host,
                "its SSH server opens no further session",
                "raise MaxSessions in its sshd_config",
            ) from error
        except _LOST as error:
            if login.alive and "imeout" in str(error):
                login.close()
                raise Unreachable(host, "it fell silent: it opens no channel") from error
            raise NotBegun(host, login.lost) from error
        request = Message()
        request.add_byte(b"\x62")  # SSH_MSG_CHANNEL_REQUEST, RFC 4254 section 5.4
        request.add_int(self._channel.remote_chanid)
        request.add_string("exec")
        request.add_boolean(True)
        request.add_string(command)
        try:
            post(login.transport, request)
            login.sessions.open_ahead()
        except _LOST as error:
            raise NotBegun(host, login.lost) from error

    @property
    def ended(self) -> bool:
        """Whether both output streams have ended."""
        return self._ended

    def write(self, data: bytes, deadline: float | None) -> None:
        """Write all of `data`; raises NotBegun when the host is lost, TimeoutError when late."""
        rest = memoryview(data)
        if not self._channel.send_ready():
            self._counted()
        try:
            while rest:
                left = None if deadline is None else max(0.001, deadline - time.monotonic())
                self._channel.settimeout(left)
                sent = self._channel.send(bytes(rest[:_PIECE]))
                if not sent:
                    raise NotBegun(self._host, self._login.lost)
                rest = rest[sent:]
        except TimeoutError as error:
            raise TimeoutError(f"{self._host}: it did not take its input in time") from error
        except _LOST as error:
            raise NotBegun(self._host, self._login.lost) from error

    def end_input(self) -> None:
        """End the process's stdin."""
        with contextlib.suppress(*_LOST):
            self._channel.shutdown_write()

    def read(self, wait: float) -> Chunk:
        """Return what comes first within `wait`; raises Unreachable when the host is lost."""
        channel = self._channel
        if self._ended:
            return Chunk()
        # paramiko loses a wake-up of one stream that comes while the other one's is taken back.
        if not (channel.recv_stderr_ready() or channel.recv_ready() or channel.eof_received):
            self._await(wait)
        over = channel.eof_received or channel.closed
        out = channel.recv(_PIECE) if channel.recv_ready() else b""
        err = channel.recv_stderr(_PIECE) if channel.recv_stderr_ready() else b""
        if over and not (out or err):
            if not (channel.eof_received or self._login.alive):
                raise Unreachable(self._host, self._login.lost)
            self._ended = True
        return Chunk(out, err)

    def _await(self, wait: float) -> None:
        """Wait for output or its end, on a descriptor that most commands are too short to need."""
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self._channel.fileno(), select.POLLIN)
        self._poll.poll(max(wait, 0) * 1000)

    def status(self, wait: float) -> int | None:
        """Return the exit status, or None when it is not known within `wait`.

        255 when the command's own shell was killed: paramiko drops SSH's exit-signal.
        """
        if not self._channel.status_event.wait(max(wait, 0)):
            return None
        status = self._channel.exit_status
        if status < 0 and not self._login.alive:
            raise Unreachable(self._host, self._login.lost)
        return 255 if status < 0 else status

    def early_status(self, wait: float) -> int | None:
        """Return the exit status or None, as `status` does: one wait instead of one a packet."""
        return self.status(wait)

    def close(self) -> None:
        """Close the channel; its stdin ends on the host, and with it a guarded command."""
        with contextlib.suppress(*_LOST):
            self._channel.close()
