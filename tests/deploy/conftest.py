"""A project of its own for each test, served by the stand-in engine on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from relight.connections.local import open_connection
from relight.core.address import Address
from relight.core.observed import Observed
from relight.deploy.target import Target, target_of
from relight.project.loader import load
from tests.sshd import free_port

ROOT = Path(__file__).resolve().parents[2]
FAST = {"RELIGHT_STANDIN_SPEED": "0.5", "RELIGHT_STANDIN_STEP_MS": "1"}
PRESET: dict[str, Any] = {
    "engine": "sglang",
    "model": "standin/tiny",
    "served_name": "tiny",
    "flags": {"context-length": 4096, "mem-fraction-static": 0.5},
    "readiness": {"within": "40s", "stall": "15s", "settle": "0.3s"},
    "max_downtime": "2m",
    "drain": "4s",
    "benchmark": {"requests": 1, "max_tokens": 32},
}


@dataclass
class Ended:
    """How a command of relight ended."""

    code: int
    out: str
    err: str

    @property
    def everything(self) -> str:
        """Return both streams."""
        return self.out + self.err


@dataclass
class Rig:
    """A folder with an inventory, a home of its own for the host, and ways to run and look."""

    folder: Path
    home: Path
    env: dict[str, str]
    host: str = "box"
    port: int = field(default_factory=free_port)
    """A free one of its own: with 0 a test that runs beside this one may take it first."""
    host_vars: dict[str, Any] = field(default_factory=dict)

    def write(self, preset: Mapping[str, Any] | None = None, **services: Any) -> None:
        """Write inventory and preset; JSON is YAML."""
        import json  # noqa: PLC0415 - small

        services = services or {"main": {"preset": "tiny", "port": self.port}}
        hosts = {
            "all": {
                "hosts": {
                    self.host: {
                        "ansible_connection": "local",
                        "relight_engine": {"python": "python3", "archive": "standin", "env": FAST},
                        "relight_launcher": "process",
                        "relight_services": services,
                        **self.host_vars,
                    }
                }
            }
        }
        presets = self.folder / "inventory" / "presets"
        presets.mkdir(parents=True, exist_ok=True)
        (self.folder / "inventory" / "hosts.yml").write_text(json.dumps(hosts))
        (presets / "tiny.yml").write_text(json.dumps({**PRESET, **(preset or {})}))

    def command(self, *words: str) -> list[str]:
        """Return the command line of a command of relight."""
        return [sys.executable, "-m", "relight", *words]

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command and return it, still running."""
        return subprocess.Popen(
            self.command(*words),
            cwd=self.folder,
            env=self.env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )

    def run(self, *words: str, timeout: float = 120) -> Ended:
        """Run a command to its end."""
        process = self.start(*words)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"{words} did not end in {timeout} s:\n{out}{err}") from None
        return Ended(process.returncode, out, err)

    def deploy(self, *words: str, timeout: float = 120) -> Ended:
        """Deploy to the host."""
        return self.run("deploy", "--host", self.host, *words, timeout=timeout)

    def target(self, service: str = "main") -> Target:
        """Return the service as the verbs see it."""
        project = load(self.folder)
        address = Address(name=self.host, connection="local")
        return target_of(project, self.host, service, open_connection(address), lambda _: None)

    def observed(self, service: str = "main") -> Observed:
        """Return how the service stands, with its port looked at."""
        target = self.target(service)
        try:
            seen = target.store.peek()
            port = seen.release.port if seen.release else 0
            return target.store.peek(port)
        finally:
            target.connection.close()

    def answers(self, service: str = "main") -> str:
        """Return the name of the model that answers on the service's port."""
        release = self.observed(service).release
        assert release is not None
        url = f"http://127.0.0.1:{release.port}/v1/models"
        return str(httpx.get(url, timeout=5).json()["data"][0]["id"])

    def store(self, service: str = "main") -> Path:
        """Return the service's folder on the host."""
        return self.home / ".relight" / service

    def kill_all(self) -> None:
        """End every process that carries this home's marker."""
        marker = str(self.home).encode()
        for _ in range(50):
            found = [pid for pid in _pids() if marker in _told(pid) and pid != os.getpid()]
            if not found:
                return
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _told(pid: int) -> bytes:
    told = b""
    for name in ("cmdline", "environ"):
        with contextlib.suppress(OSError):
            told += Path(f"/proc/{pid}/{name}").read_bytes()
    return told


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """Return a rig whose processes are ended afterwards."""
    home = tmp_path / "home"
    home.mkdir()
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "RELIGHT_DEBUG": "1",
    }
    monkeypatch.setenv("HOME", str(home))  # the local connection's home, also for our own looks
    rig = Rig(tmp_path / "project", home, env)
    rig.folder.mkdir()
    rig.write()
    yield rig
    rig.kill_all()
