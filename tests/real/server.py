"""A real SGLang server on loopback, started as a person would and ended with all its children."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.deadline import until
from tests.real.environment import ensure, model

READY_LINE: Final = "The server is fired up and ready to roll!"
# From start to the ready line: 15 s on two free cores, over a minute seen on busy ones.
READY_SECONDS: Final = 150
# What every preset for the tiny model on the CPU has to say (0.5.10 and 0.5.23 alike).
FLAGS: Final = (
    ("device", "cpu"),
    ("served-model-name", "tiny"),
    ("max-total-tokens", "8192"),
    ("context-length", "2048"),
    ("mem-fraction-static", "0.2"),
    ("sleep-on-idle", None),
    ("enable-metrics", None),
)
# Two threads wait for each other at every step of so small a model: 9 to 90 tokens/s on busy cores,
# where one makes 200 to 300.
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1"}
CHAT: Final = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "hello"}],
    "max_tokens": 16,
    "ignore_eos": True,
}


@dataclass(frozen=True)
class Server:
    """A started server: its process leads a session, so that its children can be found."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Return the address of its HTTP side, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def members(self) -> list[int]:
        """Return the ids of all living processes of its session."""
        return session_members(self.process.pid)


def session_members(session: int) -> list[int]:
    """Return the ids of the processes of a session, zombies left out, in rising order."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # After the name in brackets: state, parent, group, session.
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    members.append(int(entry.name))
    return sorted(members)


def free_port() -> int:
    """Return a port of loopback that nobody holds at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def command(python: str, weights: str, port: int) -> list[str]:
    """Return the command line of a server for the tiny model in the folder `weights`."""
    flags = [word for name, value in FLAGS for word in (f"--{name}", value) if word is not None]
    where = ["--host", "127.0.0.1", "--port", str(port)]
    return [python, "-m", "sglang.launch_server", "--model-path", weights, *flags, *where]


def ready(server: Server) -> bool:
    """Return whether the ready line is in the log; raise RuntimeError when the process is gone."""
    text = server.log.read_text(errors="replace")
    if server.process.poll() is not None:
        raise RuntimeError(f"ended with {server.process.returncode} before it was ready: {text}")
    return READY_LINE in text


@contextlib.contextmanager
def serving(version: str, log: Path) -> Iterator[Server]:
    """Run a server of this SGLang until the block ends, ready at its start; leave no process.

    Raises CannotMakeError, RuntimeError when it ends early, TimeoutError after 150 s.
    """
    port = free_port()
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command(str(ensure(version)), str(model()), port),
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(process, port, log)
    try:
        until(lambda: ready(server), READY_SECONDS, f"{READY_LINE} in {log}")
        yield server
    finally:
        end(server)


def end(server: Server) -> None:
    """Kill what is left of the server's session and wait until it is gone."""

    def gone() -> bool:
        left = server.members()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    until(gone, 30, f"the end of session {server.process.pid}")
    server.process.wait()
