"""A project with one host that runs the real SGLang through relight, and ways to look at it."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests import sshd
from tests.deadline import until
from tests.real.environment import ensure
from tests.real.project import ROOT, home_for, host, open_the_way, over_ssh, preset, short, write
from tests.real.server import CHAT, free_port

# Two starts on a machine of two busy cores, and what comes between.
COMMAND_SECONDS = 1200.0
GONE_SECONDS = 90.0


@dataclass(frozen=True)
class Ended:
    """How a command of relight ended."""

    code: int
    text: str


@dataclass(frozen=True)
class Served:
    """What serves: the main process with its start, so that a restart shows; the release."""

    process: str
    release: str


@dataclass(frozen=True)
class Rig:
    """One host, `box`, with one service, `main`; what it keeps lies in `kept`."""

    folder: Path
    version: str
    port: int
    server: sshd.Sshd | None = None
    host: str = "box"

    @property
    def kept(self) -> Path:
        """Return the host's `relight_home`."""
        return self.folder / "kept" / "box"

    @property
    def service(self) -> Path:
        """Return the folder of the service on the host."""
        return self.kept / "main"

    @property
    def url(self) -> str:
        """Return the address of the server."""
        return f"http://127.0.0.1:{self.port}"

    def lay(self, **changes: Any) -> None:
        """Write inventory and preset; `changes` are keys of the preset."""
        user = self.server.user if self.server else getpass.getuser()
        home = home_for(self.kept, user)
        way = over_ssh(self.server) if self.server else {}
        if self.server:
            open_the_way(ensure(self.version))
        services = {"main": {"preset": "tiny", "port": self.port}}
        box = host(self.version, home, relight_services=services, **way)
        write(self.folder, {self.host: box}, {"tiny": preset(self.version, **changes)})

    def run(self, *words: str, timeout: float = COMMAND_SECONDS) -> Ended:
        """Run a command of relight in the project to its end."""
        process = self.start(*words)
        try:
            text, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
            raise AssertionError(f"{words} did not end in {timeout} s:\n{text}") from None
        sys.stdout.write(f"relight {' '.join(words)}: exit {process.returncode}\n{text}")
        return Ended(process.returncode, text)

    def on(self, *words: str) -> Ended:
        """Run a command of relight for the host to its end."""
        return self.run(words[0], "--host", self.host, *words[1:])

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command of relight and return it, still running."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "RELIGHT_DEBUG": "1"}
        if self.server:
            environment["HOME"] = str(self.server.home)
        return subprocess.Popen(
            [sys.executable, "-m", "relight", *words],
            cwd=self.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )

    def deploy(self, *words: str, measure: bool = False) -> Ended:
        """Deploy; the benchmark only where it is the point."""
        benchmark = () if measure else ("--no-benchmark",)
        return self.run("deploy", "--host", self.host, *benchmark, *words)

    def ready(self) -> Served:
        """Return what serves; where nothing does, deploy the preset first."""
        if not self.answers():
            self.lay()
            ended = self.deploy()
            assert ended.code == 0, ended.text
        return self.served()

    def served(self) -> Served:
        """Return what serves: the process that the launch began with, which must be alive."""
        launch = (self.service / "last-launch").read_text().strip()
        process = (self.service / "launches" / launch / "pid").read_text().strip()
        assert int(process.split()[0]) in self.processes(), process
        return Served(process, (self.service / "current").readlink().name)

    def known_good(self) -> str:
        """Return the release that is known-good."""
        return (self.service / "known-good").readlink().name

    def releases(self) -> list[str]:
        """Return the stored releases, the oldest first."""
        return sorted(path.name for path in (self.service / "releases").glob("*"))

    def log(self) -> Path:
        """Return the log of the last launch."""
        launch = (self.service / "last-launch").read_text().strip()
        return self.service / "launches" / launch / "server.log"

    def answers(self) -> bool:
        """Return whether the server answers for the tiny model."""
        try:
            models = httpx.get(f"{self.url}/v1/models", timeout=10).json()
        except (httpx.HTTPError, ValueError):
            return False
        return [entry["id"] for entry in models["data"]] == ["tiny"]

    def chat(self, **changes: Any) -> httpx.Response:
        """Ask the server for 16 tokens."""
        return httpx.post(f"{self.url}/v1/chat/completions", json=CHAT | changes, timeout=240)

    def processes(self) -> list[int]:
        """Return the living processes that write to a log of this host, supervisors left out."""
        below = f"{self.kept}/"
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    if (folder / "fd" / "1").readlink().as_posix().startswith(below):
                        found.append(int(folder.name))
        return sorted(found)

    def child(self, kind: str) -> int:
        """Return the process of the server whose title names its kind: scheduler, detokenizer."""
        for pid in self.processes():
            title = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            if re.match(rf"sglang::{kind}", title):
                return pid
        raise AssertionError(f"no {kind} among {self.processes()}")

    def gone(self) -> None:
        """Return when no process of the server is left."""
        until(lambda: not self.processes(), GONE_SECONDS, f"the end of {self.processes()}")

    def end(self) -> None:
        """Kill what is left, wait until it is gone."""

        def gone() -> bool:
            left = self.processes()
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not left

        until(gone, GONE_SECONDS, "the end of all servers")


def rig_in(folder: Path, version: str, server: sshd.Sshd | None = None) -> Rig:
    """Return a rig with its project written, nothing deployed."""
    rig = Rig(folder / f"project{short(version)}", version, free_port(), server)
    rig.lay()
    return rig
