"""What the host script takes for an adopted server's: its own, and never what is around it."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.deadline import until
from tests.host.served import Served, alive, free_port, script_text

SERVER = """
import os, signal, socket, subprocess, sys
folder, port, leaves = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "leaves"
held = socket.create_server(("127.0.0.1", port))
nap = [sys.executable, "-c", "import time; time.sleep(600)"]
child = subprocess.Popen(nap)
stray = subprocess.Popen(nap, start_new_session=leaves)
with open(folder + "/new", "w") as file:
    file.write(f"{os.getpid()} {child.pid} {stray.pid}")
os.rename(folder + "/new", folder + "/pids")
signal.pause()
"""


@dataclass
class Foreign:
    """A server with two children, started by a shell that relight knows nothing of."""

    folder: Path
    port: int = field(default_factory=free_port)
    pids: tuple[int, ...] = ()
    shells: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, around: str, *, leaves: bool = False, terminal: bool = False) -> int:
        """Start it in a session of its own; returns its process, `pids` has its children too."""
        (self.folder / "server.py").write_text(SERVER)
        program = f"{sys.executable} {self.folder}/server.py {self.folder} {self.port}"
        words = f"{program} {'leaves' if leaves else 'stays'} > {self.folder}/own.log 2>&1"
        command = around.format(words, nap=f"{sys.executable} -c 'import time; time.sleep(600)'")
        shell = ["sh", "-c", command]
        if terminal:
            shell = ["setsid", "--ctty", *shell]
        near, far = pty.openpty()
        self.shells.append(subprocess.Popen(shell, stdin=far, start_new_session=True))
        os.close(far)
        told = self.folder / "pids"
        until(told.exists, 20, "the foreign server")
        os.set_blocking(near, False)
        self.pids = tuple(map(int, told.read_text().split()))
        return self.pids[0]

    def end(self) -> None:
        """End what is left of it."""
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for shell in self.shells:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[Foreign]:
    """Return what starts a foreign server; it is gone afterwards."""
    server = Foreign(tmp_path)
    yield server
    server.end()


def start_time(pid: int) -> str:
    """Return when a process began, in ticks since boot."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def adopt(served: Served, pid: int, port: int) -> subprocess.CompletedProcess[str]:
    """Adopt a process as release 0001-adopted-0."""
    served.lock()
    served.release("0001-adopted-0", "exec sleep 600", port)
    return served.call("adopt", served.fence, "0001-adopted-0", pid, start_time(pid), port)


def test_it_is_a_launch_like_any_other(served: Served, foreign: Foreign) -> None:
    """Known-good and running, with its children and its own log; then stopped, all of it."""
    pid = foreign.start("{} & {nap} & wait", leaves=True)
    done = adopt(served, pid, foreign.port)
    assert done.returncode == 0, done.stderr
    seen = served.observed(foreign.port)
    assert (seen.state, seen.pid, seen.confirmed, seen.foreign) == ("running", pid, True, ())
    assert set(seen.pids) == set(foreign.pids)
    assert served.launch("server.log").resolve() == foreign.folder / "own.log"
    served.do("stop", 2)
    assert not any(map(alive, foreign.pids))
    assert alive(foreign.shells[0].pid)
    assert (foreign.folder / "own.log").exists()


def test_children_are_known_when_their_parent_is_gone(served: Served, foreign: Foreign) -> None:
    """Killed from outside: what it left, also in another session, is still its own, and ends."""
    pid = foreign.start("{} & wait", leaves=True)
    assert adopt(served, pid, foreign.port).returncode == 0
    os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(pid), 10, "the end of the main process")
    seen = served.observed()
    assert seen.state == "lost"
    assert set(foreign.pids[1:]) <= set(seen.pids)
    served.do("stop", 1)
    assert not any(map(alive, foreign.pids))


def test_a_shell_that_started_only_it_belongs_to_it(served: Served, foreign: Foreign) -> None:
    """A loop without a terminal would start it again: its session is the server's."""
    pid = foreign.start("{} & wait; sleep 600")
    assert adopt(served, pid, foreign.port).returncode == 0
    assert foreign.shells[0].pid in served.observed().pids
    served.do("stop", 1)
    assert not alive(foreign.shells[0].pid)


@pytest.mark.parametrize(
    ("around", "terminal"), [("{} & {nap} & wait", False), ("{} & wait", True)], ids=["job", "tty"]
)
def test_a_shell_with_a_job_or_a_terminal_is_left_alone(
    served: Served, foreign: Foreign, around: str, *, terminal: bool
) -> None:
    """A login's or a terminal multiplexer's shell is never taken for the server's."""
    pid = foreign.start(around, terminal=terminal)
    assert adopt(served, pid, foreign.port).returncode == 0
    assert set(served.observed().pids) == set(foreign.pids)
    served.do("stop", 1)
    assert not any(map(alive, foreign.pids))


def test_what_is_not_as_it_was_seen_is_refused(served: Served, foreign: Foreign) -> None:
    """Another start time, a port that it does not hold, a second time: nothing is pointed at it."""
    pid = foreign.start("{} & wait")
    served.lock()
    served.release("0001-adopted-0", "exec sleep 600", foreign.port)
    began = int(start_time(pid))
    for words in ((pid, began + 1, foreign.port), (pid, began, free_port())):
        assert served.call("adopt", served.fence, "0001-adopted-0", *words).returncode == 72
        assert served.observed().current is None
    assert served.call("adopt", 0, "0001-adopted-0", pid, began, foreign.port).returncode == 75
    served.do("adopt", "0001-adopted-0", pid, began, foreign.port)
    again = served.call("adopt", served.fence, "0001-adopted-0", pid, began, foreign.port)
    assert again.returncode == 72
    assert "relight's own" in again.stderr


def test_no_launcher_is_told_to_keep_it(served: Served, foreign: Foreign) -> None:
    """A launcher that is told to keep what it did not start would start a second server."""
    text = script_text().replace("launcher_keep() { :; }", "launcher_keep() { : >asked-to-keep; }")
    (served.folder / "host.sh").write_text(text)
    pid = foreign.start("{} & wait")
    assert adopt(served, pid, foreign.port).returncode == 0
    served.do("promote", "0001-adopted-0")
    asked = served.folder / "asked-to-keep"
    assert not asked.exists()
    served.do("stop", 1)
    served.start("0002-a-0", "exec sleep 600")
    served.do("promote", "0002-a-0")
    assert asked.exists()
