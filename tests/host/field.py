"""A project whose hosts are those of a testbed, served by the stand-in engine through real SSH."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relight.core.ledger import Ledger, read_ledger
from relight.core.observed import Observed, read_status
from tests.deadline import until
from tests.testbed.bed import Testbed

ROOT = Path(__file__).resolve().parents[2]
FAST = {"RELIGHT_STANDIN_SPEED": "0.3", "RELIGHT_STANDIN_STEP_MS": "1"}
LEASE = 6
"""Seconds; a tenth of the real one, so that tests see it run out."""
PORT = 30001
PRESET: dict[str, Any] = {
    "engine": "sglang",
    "model": "standin/tiny",
    "served_name": "tiny",
    "flags": {"host": "0.0.0.0", "context-length": 4096, "mem-fraction-static": 0.5},
    "readiness": {"within": "60s", "stall": "30s", "settle": "0.2s"},
    "max_downtime": "3m",
    "drain": "3s",
    "benchmark": {"requests": 1, "max_tokens": 16},
}


@dataclass(frozen=True)
class Site:
    """One host of the field: its number in the testbed, its login, its launcher, its services."""

    number: int
    user: str
    launcher: str
    services: Mapping[str, int]

    @property
    def name(self) -> str:
        """Return its name in the inventory."""
        return f"{self.user}{self.number}"

    @property
    def store(self) -> str:
        """Return where it keeps relight's files."""
        return "/root/.relight" if self.user == "root" else f"/home/{self.user}/.relight"


@dataclass
class Field:
    """The project's folder, and ways to deploy, to look and to harm."""

    folder: Path
    bed: Testbed
    sites: tuple[Site, ...]
    lease: int = LEASE
    changes: dict[str, Any] = field(default_factory=dict)
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, **changes: Any) -> None:
        """Write inventory and preset; `changes` are flags of the preset from now on."""
        self.changes.update(changes)
        ssh = self.folder / ".ssh"
        ssh.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.bed.access.known_hosts, ssh / "known_hosts")
        hosts = {
            site.name: {
                "ansible_host": self.bed.node(site.number).address,
                "ansible_user": site.user,
                "ansible_ssh_private_key_file": str(self.bed.access.key),
                "ansible_timeout": 3,
                "lock_lease": self.lease,
                "relight_engine": {"python": "python3", "archive": "standin", "env": FAST},
                "relight_launcher": site.launcher,
                "relight_services": {
                    name: {"preset": "tiny", "port": port} for name, port in site.services.items()
                },
            }
            for site in self.sites
        }
        presets = self.folder / "inventory" / "presets"
        presets.mkdir(parents=True, exist_ok=True)
        (self.folder / "inventory" / "hosts.yml").write_text(json.dumps({"all": {"hosts": hosts}}))
        preset = {**PRESET, "flags": {**PRESET["flags"], **self.changes}}
        (presets / "tiny.yml").write_text(json.dumps(preset))

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command of relight in a session of its own."""
        env = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-m", "relight", *words],
            cwd=self.folder,
            env={**env, **self.environment, "RELIGHT_DEBUG": "1"},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.running.append(process)
        return process

    def run(self, *words: str, timeout: float = 180) -> tuple[int, str]:
        """Run a command of relight; return its exit code and what it said."""
        process = self.start(*words)
        out, _ = process.communicate(timeout=timeout)
        return process.returncode, out

    def deploy(self, site: Site, *words: str, timeout: float = 180) -> tuple[int, str]:
        """Deploy to one host."""
        return self.run("deploy", "--host", site.name, *words, timeout=timeout)

    def says(self, site: Site, command: str) -> str:
        """Return what a command on a host prints, as the user who deploys there."""
        return self.bed.ssh(site.number, command, user=site.user).stdout

    def observed(self, site: Site, service: str = "main") -> Observed:
        """Return how a service stands."""
        port = site.services[service]
        return read_status(self.says(site, f"sh {site.store}/{service}/host.sh status {port}"))

    def file(self, site: Site, name: str, service: str = "main") -> Path:
        """Return a file of a service as this machine sees it, also while the host is dark."""
        return self.bed.node(site.number).root / site.store[1:] / service / name

    def ledger(self, site: Site, service: str = "main") -> Ledger:
        """Return the ledger, read from this machine."""
        file = self.file(site, "ledger.jsonl", service)
        return read_ledger(file.read_text(errors="replace")) if file.exists() else Ledger()

    def events(self, site: Site, service: str = "main") -> list[str]:
        """Return what the ledger says happened."""
        return [entry.event for entry in self.ledger(site, service).entries]

    def engines(self, site: Site) -> list[int]:
        """Return the main processes of this user's servers on a host, whoever started them."""
        words = f"pgrep -u {site.user} -f '^[^ ]*python3 -m sglang.launch_server'"
        return [int(pid) for pid in self.says(site, words).split()]

    def strays(self, site: Site) -> list[str]:
        """Return steps of relight that still run on a host where none should."""
        words = (
            f"pgrep -u {site.user} -af 'host[.]sh (hold|guard|lock|stop|start|rollback|promote)'"
        )
        return self.says(site, words).splitlines()

    def settled(self, site: Site, service: str = "main", within: float = 90) -> Observed:
        """Return once a service serves its known-good, with neither lock nor dead-man left."""
        seen: list[Observed] = []

        def done() -> bool:
            now = self.observed(site, service)
            seen[:] = [now]
            return now.confirmed and now.deadman == "none" and not now.locked and owns(now)

        try:
            until(done, within, f"{site.name}/{service} serving its known-good", every=0.3)
        except TimeoutError as error:
            said = f"{seen}\n{self.file(site, 'ledger.jsonl', service).read_text()[-3000:]}"
            raise AssertionError(f"{error}\n{said}") from error
        return seen[0]

    def end(self) -> None:
        """End every command that still runs."""
        for process in self.running:
            if process.poll() is None:
                process.kill()
            if process.stdout and not process.stdout.closed:
                process.communicate()


def owns(observed: Observed) -> bool:
    """Return whether the port is held by the server's own processes alone."""
    pids = observed.port_pids
    return bool(pids) and not observed.foreign and set(pids) <= set(observed.pids)
