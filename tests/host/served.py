"""A service's folder with the real host script in it, and small scripts as its engines."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from relight import launchers
from relight.core.ledger import Ledger, read_ledger
from relight.core.observed import Observed, Pulse, read_pulse, read_status
from relight.store.host_script import assemble

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
LISTENING = (
    'exec python3 -c \'import socket, signal; s = socket.create_server(("127.0.0.1", {port}));'
    ' print("listening", flush=True); signal.pause()\''
)
"""An engine that holds its port and dies of SIGTERM."""


def script_text(**changed: str) -> str:
    """Return the host script of the process launcher, with some of its constants changed."""
    text = assemble(lambda name: (TEMPLATES / name).read_text(), launchers.load("process")).text
    script = text.decode()
    for name, value in changed.items():
        lines = [line for line in script.splitlines() if line.startswith(f"{name}=")]
        assert len(lines) == 1, f"{name} is not set in one place"
        script = script.replace(f"\n{lines[0]}\n", f"\n{name}={value}\n")
    return script


@dataclass
class Served:
    """One service. `fence` is the last that `lock` returned; `path` goes before PATH."""

    folder: Path
    fence: int = 0
    path: str = ""
    foreign: list[subprocess.Popen[str]] = field(default_factory=list)

    def call(self, *words: str | int, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command of the host script."""
        return subprocess.run(
            self.words(*words),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def words(self, *words: str | int) -> list[str]:
        """Return the command line of a command of the host script."""
        path = f"PATH={self.path}{os.environ['PATH']}"
        return ["env", path, "sh", str(self.folder / "host.sh"), *map(str, words)]

    def begin(self, *words: str | int) -> subprocess.Popen[str]:
        """Start a command of the host script in a session of its own."""
        process = subprocess.Popen(
            self.words(*words),
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.foreign.append(process)
        return process

    def good(self, *words: str | int) -> str:
        """Run a command that must succeed and return what it printed."""
        done = self.call(*words)
        assert done.returncode == 0, (words, done.returncode, done.stderr)
        return done.stdout.strip()

    def do(self, command: str, *words: str | int) -> str:
        """Run a command under the fence; it must succeed."""
        return self.good(command, self.fence, *words)

    def lock(self, lease: int = 60, who: str = "tester") -> int:
        """Take the lock."""
        self.fence = int(self.good("lock", lease, f'{{"who":"{who}","why":"a test"}}'))
        return self.fence

    def release(self, name: str, launch_sh: str, port: int = 0) -> str:
        """Write a release whose launch.sh is this shell text."""
        folder = self.folder / "releases" / name
        folder.mkdir(parents=True)
        (folder / "launch.sh").write_text(f"#!/bin/sh\n{launch_sh}\n")
        (folder / "release.json").write_text(f'{{\n  "port": {port},\n  "id": "{name}"\n}}\n')
        return name

    def start(self, name: str, launch_sh: str, port: int = 0) -> int:
        """Write a release, start it and return its main process."""
        self.release(name, launch_sh, port)
        return int(self.do("start", name).split()[1])

    def observed(self, port: int = 0) -> Observed:
        """Return how it stands."""
        return read_status(self.good("status", port))

    def pulse(self, port: int = 0) -> Pulse:
        """Return one look at the last launch."""
        return read_pulse(self.good("pulse", self.last_launch(), self.fence, port))

    def ledger(self) -> Ledger:
        """Return the ledger."""
        file = self.folder / "ledger.jsonl"
        return read_ledger(file.read_text()) if file.exists() else Ledger()

    def events(self) -> list[str]:
        """Return what the ledger says happened, in order."""
        return [entry.event for entry in self.ledger().entries]

    def last_launch(self) -> int:
        """Return the number of the last launch."""
        return int((self.folder / "last-launch").read_text())

    def launch(self, name: str) -> Path:
        """Return a file of the last launch."""
        return self.folder / "launches" / str(self.last_launch()) / name

    def log(self) -> str:
        """Return the log of the last launch."""
        return self.launch("server.log").read_text()

    def processes(self) -> list[int]:
        """Return every process that names this service's folder, the host script's own included."""
        return naming(str(self.folder))

    def end(self) -> None:
        """End everything that this service left."""
        for process in self.foreign:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        deadline = time.monotonic() + 10
        while found := self.processes():
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            assert time.monotonic() < deadline, found
            time.sleep(0.02)


def naming(text: str) -> list[int]:
    """Return the processes, but this one, whose words, environment or output name a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        told = b""
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                told += (entry / name).read_bytes()
        with contextlib.suppress(OSError):
            told += str((entry / "fd/1").readlink()).encode()
        if text.encode() in told and alive(int(entry.name)):
            found.append(int(entry.name))
    return found


def alive(pid: int) -> bool:
    """Return whether a process lives and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def free_port() -> int:
    """Return a loopback port that is free at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
