"""A TCP relay that delays: `python tests/testbed/relay.py --to 127.0.0.1:22 --delay-ms 25`.

Every byte arrives a fixed time after it came in, in both directions, in order, and so does the end
of a stream. Two delays of 25 ms make the 50 ms round trip of a benchmark on loopback. The one thing
that is not delayed is the client's connect(), which the kernel answers before a relay can.
"""

import argparse
import asyncio
import contextlib
import queue
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

CHUNK: Final = 1 << 16
# What is on the way is bounded, 64 MiB at most each way; beyond that the sender has to wait.
CHUNKS_ON_THE_WAY: Final = 1024

# When it is due, on the clock of the event loop, and what; empty for the end of the stream.
Timed = tuple[float, bytes]


@dataclass(frozen=True)
class Relay:
    """Where a relay sends what it takes, and after how many seconds."""

    host: str
    port: int
    delay: float

    async def serve(self, listener: socket.socket, stop: asyncio.Event) -> None:
        """Relay each connection to a listening socket until told to stop; then end them all."""
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        connections: set[asyncio.Task[None]] = set()

        def accept() -> None:
            with contextlib.suppress(BlockingIOError, ConnectionAbortedError):
                taken, _ = listener.accept()
                task = asyncio.create_task(self._connection(taken))
                connections.add(task)
                task.add_done_callback(connections.discard)
                # Also when it is cancelled before it has begun.
                task.add_done_callback(lambda _: taken.close())

        loop.add_reader(listener, accept)
        try:
            await stop.wait()
        finally:
            loop.remove_reader(listener)
            for task in connections:
                task.cancel()
            if connections:
                await asyncio.wait(connections)

    async def _connection(self, taken: socket.socket) -> None:
        writers: list[asyncio.StreamWriter] = []
        try:
            # asyncio sets TCP_NODELAY on a socket that it connects, and we on the one it was given.
            taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ours, back = await asyncio.open_connection(sock=taken, limit=CHUNK)
            writers.append(back)
            theirs, onward = await asyncio.open_connection(self.host, self.port, limit=CHUNK)
            writers.append(onward)
            async with asyncio.TaskGroup() as directions:
                directions.create_task(self._direction(ours, onward))
                directions.create_task(self._direction(theirs, back))
            for writer in writers:
                writer.close()
                await writer.wait_closed()
        except* OSError:
            # One side is gone without a goodbye, and so the other side will be.
            pass
        finally:
            for writer in writers:
                writer.transport.abort()

    async def _direction(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        line: asyncio.Queue[Timed] = asyncio.Queue(CHUNKS_ON_THE_WAY)
        async with asyncio.TaskGroup() as both:
            both.create_task(self._take(source, line))
            both.create_task(self._give(line, sink))

    async def _take(self, source: asyncio.StreamReader, line: asyncio.Queue[Timed]) -> None:
        clock = asyncio.get_running_loop().time
        data = b"not the end"
        while data:
            data = await source.read(CHUNK)
            await line.put((clock() + self.delay, data))

    async def _give(self, line: asyncio.Queue[Timed], sink: asyncio.StreamWriter) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            due, data = await line.get()
            if (early := due - clock()) > 0:
                await asyncio.sleep(early)
            if not data:
                sink.write_eof()
                return
            sink.write(data)
            await sink.drain()


@contextlib.contextmanager
def relaying(host: str, port: int, delay: float) -> Iterator[int]:
    """Relay to host:port in a thread until the block ends; give the port of loopback to use.

    `delay` is in seconds, each way.
    """
    started: queue.SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = (
        queue.SimpleQueue()
    )

    async def relay(listener: socket.socket) -> None:
        stop = asyncio.Event()
        started.put((asyncio.get_running_loop(), stop))
        await Relay(host, port, delay).serve(listener, stop)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(relay(listener)), name="relay")
        thread.start()
        loop, stop = started.get()
        try:
            yield int(listener.getsockname()[1])
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()


def endpoint(text: str) -> tuple[str, int]:
    """Read HOST:PORT; raise ArgumentTypeError for anything else."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isdecimal() and int(port) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host, int(port)


def main(arguments: Sequence[str]) -> int:
    """Return 0 after an interrupt."""
    parser = argparse.ArgumentParser(description="A TCP relay that delays; prints its port.")
    parser.add_argument("--listen", type=endpoint, default=("127.0.0.1", 0), metavar="HOST:PORT")
    parser.add_argument("--to", type=endpoint, required=True, metavar="HOST:PORT")
    parser.add_argument("--delay-ms", type=float, default=25.0, help="each way; 25 by default")
    chosen = parser.parse_args(arguments)
    host, port = chosen.to
    relay = Relay(host, port, chosen.delay_ms / 1000)
    with socket.create_server(chosen.listen) as listener, contextlib.suppress(KeyboardInterrupt):
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        asyncio.run(relay.serve(listener, asyncio.Event()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
