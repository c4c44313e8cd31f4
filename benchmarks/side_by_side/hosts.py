"""The hosts of a benchmark: a real sshd each, reached directly or through a delaying relay."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import sshd as servers
from tests.testbed.relay import relaying

RTT = 0.05
"""Seconds of a round trip to a far host."""


@dataclass(frozen=True)
class Hosts:
    """Hosts that are there. `project` is a relight project, `inventory` what all tools read."""

    project: Path
    home: Path
    user: str
    rtt: float
    addresses: dict[str, dict[str, Any]]
    environment: dict[str, str] = field(repr=False)

    @property
    def inventory(self) -> Path:
        """The inventory: JSON, which is YAML."""
        return self.project / "inventory" / "hosts.yml"

    def write(self, **variables: Any) -> None:
        """Write the inventory; `variables` are those of every host."""
        hosts = {name: {**address, **variables} for name, address in self.addresses.items()}
        self.inventory.parent.mkdir(parents=True, exist_ok=True)
        self.inventory.write_text(json.dumps({"all": {"hosts": hosts}}))


@dataclass(frozen=True)
class Bench:
    """As many sshds as were asked for, and a folder that the user of the hosts may write to."""

    folder: Path
    user: str
    servers: list[servers.Sshd]

    @property
    def shared(self) -> Path:
        """A folder that everybody may write to."""
        return self.folder / "shared"

    def as_user(self, script: str, folder: str) -> None:
        """Run a script on the host itself, as the user that all tools log in as."""
        words = ["sh", "-c", script]
        if not os.geteuid():
            words = ["setpriv", f"--reuid={self.user}", "--regid=nogroup", "--clear-groups", *words]
        subprocess.run(words, cwd=folder, check=True, stdin=subprocess.DEVNULL)

    def end_servers(self) -> None:
        """End what was started detached: the processes that have our folder on their path."""
        for told in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if f"PYTHONPATH={self.shared}".encode() in told.read_bytes():
                    os.kill(int(told.parent.name), signal.SIGKILL)

    @contextlib.contextmanager
    def near(self, count: int) -> Iterator[Hosts]:
        """Give the first hosts over loopback."""
        yield self._hosts("near", 0.0, [one.port for one in self.servers[:count]])

    @contextlib.contextmanager
    def far(self, count: int) -> Iterator[Hosts]:
        """Give the first hosts with a round trip of 50 ms, each through a relay of its own."""
        with contextlib.ExitStack() as relays:
            ports = []
            for one in self.servers[:count]:
                ports.append(relays.enter_context(relaying(one.host, one.port, RTT / 2)))
                one.vouch(ports[-1])
            yield self._hosts("far", RTT, ports)

    def _hosts(self, name: str, rtt: float, ports: list[int]) -> Hosts:
        project = self.folder / f"{name}{len(ports)}"
        home = project / "home"
        (home / ".ssh").mkdir(parents=True, mode=0o700, exist_ok=True)
        vouched = "".join(one.known_hosts.read_text() for one in self.servers)
        (home / ".ssh" / "known_hosts").write_text(vouched)
        (home / ".ssh" / "config").touch()
        addresses = {
            f"host{number}": {
                "ansible_host": one.host,
                "ansible_port": port,
                "ansible_user": one.user,
                "ansible_ssh_private_key_file": str(one.key),
            }
            for number, (one, port) in enumerate(zip(self.servers, ports, strict=False))
        }
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "INVENTORY": str(project / "inventory" / "hosts.yml"),
        }
        hosts = Hosts(project, home, self.user, rtt, addresses, environment)
        hosts.write()
        return hosts


@contextlib.contextmanager
def bench(count: int) -> Iterator[Bench]:
    """Start `count` sshds of our own; end them, and take away what they left."""
    folder = Path(tempfile.mkdtemp(prefix="rb"))
    folder.chmod(0o755)
    user = servers.ordinary_user()
    started: list[servers.Sshd] = []
    made = Bench(folder, user, started)
    try:
        (folder / "shared").mkdir()
        (folder / "shared").chmod(0o777)
        for number in range(count):
            # Ansible, pyinfra and Fabric copy files through SFTP, as sshd usually offers it.
            place = folder / f"sshd{number}"
            started.append(servers.start(place, user=user, sessions=100, sftp=True))
        yield made
    finally:
        made.end_servers()
        for one in started:
            one.stop()
        shutil.rmtree(folder, ignore_errors=True)
