"""A TCP relay on loopback that falls silent, or drops what it carries, when a test says so."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Relay:
    """A TCP relay on loopback that can fall silent or drop everything."""

    def __init__(self, target: tuple[str, int], port: int = 0) -> None:
        self._target = target
        self._flowing = threading.Event()
        self._flowing.set()
        self._sockets: list[socket.socket] = []
        self._most: int | None = None
        self.answered = 0
        """Bytes that the target has answered so far."""
        self._server = socket.create_server(("127.0.0.1", port))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def silence(self) -> None:
        """Forward nothing any more; connections stay open, new ones are still accepted."""
        self._flowing.clear()

    def silence_after(self, answered: int) -> None:
        """Fall silent once the target has answered so many bytes."""
        self._most = answered

    def drop(self) -> None:
        """Cut every connection; new ones are still accepted."""
        sockets, self._sockets = self._sockets, []
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Cut everything and listen no longer."""
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._flowing.set()
        self.drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                try:
                    far = socket.create_connection(self._target, 5)
                except OSError:
                    near.close()
                    continue
                far.settimeout(None)
                self._sockets += [near, far]
                threading.Thread(target=self._carry, args=(near, far), daemon=True).start()

    def _carry(self, near: socket.socket, far: socket.socket) -> None:
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=self._pump, args=(far, near), daemon=True)
        back.start()
        self._pump(near, far)
        back.join()
        near.close()
        far.close()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        answers = source.getpeername() == self._target
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                self.answered += len(piece) * answers
                if self._most is not None and self.answered > self._most:
                    self.silence()
                self._flowing.wait()
                sink.sendall(piece)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
