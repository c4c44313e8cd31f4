"""A real sshd on a free loopback port, with keys of its own, for tests and benchmarks."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relight.core.address import Address
from tests.breakable_relay import Relay

SSHD = Path("/usr/sbin/sshd")
ORDINARY = "relight-test"
"""The ordinary user that root creates, so that a host need not be entered as root."""


@dataclass(frozen=True)
class Sshd:
    """A running sshd; `home` is a HOME for the client: `.ssh` with key, known_hosts, config."""

    port: int
    user: str
    home: Path
    folder: Path
    process: subprocess.Popen[bytes]
    host: str = "127.0.0.1"
    relays: list[Relay] = field(default_factory=list)

    @property
    def key(self) -> Path:
        """The private key that the server lets in."""
        return self.home / ".ssh" / "id_ed25519"

    @property
    def known_hosts(self) -> Path:
        """The file that vouches for the server, by its port and by those of its relays."""
        return self.home / ".ssh" / "known_hosts"

    @property
    def config(self) -> Path:
        """The client's ssh_config, empty at first."""
        return self.home / ".ssh" / "config"

    def address(self, **changes: Any) -> Address:
        """Return how to reach it; `changes` are fields of the address."""
        fields = {
            "name": "box",
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "private_key_file": str(self.key),
            "timeout": 5.0,
        }
        return Address(**{**fields, **changes})

    def relay(self) -> Relay:
        """Return a relay to it that can fall silent or drop; its port is vouched for too."""
        relay = Relay((self.host, self.port))
        self.relays.append(relay)
        self.vouch(relay.port)
        return relay

    def vouch(self, port: int) -> None:
        """Add the server's host key to known_hosts under another port."""
        key = (self.folder / "host_ed25519.pub").read_text()
        with self.known_hosts.open("a") as file:
            file.write(f"[{self.host}]:{port} {key}")

    def sessions(self) -> list[int]:
        """Return the server's processes that serve connections."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parent = stat.read_text().rpartition(")")[2].split()[1]
                if int(parent) == self.process.pid:
                    found.append(int(stat.parent.name))
        return found

    def drop(self) -> None:
        """Cut every connection by killing the processes that serve them."""
        for process in self.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Stop the server and its sessions: connected peers hear nothing, new ones no greeting."""
        stopped = [*self._tree(), self.process.pid]
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def _tree(self) -> list[int]:
        """Return the processes below the server that are sshd themselves."""
        parents: dict[int, int] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                text = stat.read_text()
                if "(sshd" in text:
                    parents[int(stat.parent.name)] = int(text.rpartition(")")[2].split()[1])
        found, edge = [], {self.process.pid}
        while edge:
            edge = {child for child, parent in parents.items() if parent in edge}
            found += sorted(edge)
        return found

    def stop(self) -> None:
        """End the server, its sessions and its relays."""
        for relay in self.relays:
            relay.close()
        self.drop()
        self.process.terminate()
        self.process.wait(10)


def missing() -> str | None:
    """Return why no sshd can be started here, or None."""
    return None if SSHD.exists() else f"{SSHD} is not installed (Debian: openssh-server)"


def ordinary_user() -> str:
    """Return an ordinary user to log in as: this one, or a user that root creates for it."""
    if os.geteuid():
        return pwd.getpwuid(os.geteuid()).pw_name
    try:
        pwd.getpwnam(ORDINARY)
    except KeyError:
        # "*" is no password, and unlike "!" no lock that would keep keys out as well.
        made = ["useradd", "--create-home", "--shell", "/bin/bash", "--password", "*", ORDINARY]
        subprocess.run(made, check=True, capture_output=True)
    return ORDINARY


def start(
    folder: Path,
    *,
    user: str | None = None,
    forwarding: bool = True,
    noise: str = "",
    sessions: int = 10,
    sftp: bool = False,
) -> Sshd:
    """Start an sshd below `folder` that lets `user` (default: this one) in by key.

    `noise` is the ~/.bashrc of a bash that starts over SSH (it moves HOME);
    `sessions` is MaxSessions; relight needs no `sftp`, others do. Stop it with `stop()`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # sshd reads its keys as the user who logs in.
    for above in (folder, *folder.parents):
        with contextlib.suppress(PermissionError):
            above.chmod(above.stat().st_mode | 0o011)
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700, exist_ok=True)
    generate_key(folder / "host_ed25519")
    generate_key(home / ".ssh" / "id_ed25519")
    authorized = folder / "authorized_keys"
    shutil.copy(home / ".ssh" / "id_ed25519.pub", authorized)
    authorized.chmod(0o644)
    (folder / "noisy").mkdir()
    (folder / "noisy" / ".bashrc").write_text(noise)
    if not os.geteuid():
        Path("/run/sshd").mkdir(exist_ok=True)  # Debian's service makes it; we start sshd alone
    port = free_port()
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": folder / "host_ed25519",
        "PidFile": folder / "pid",
        "AuthorizedKeysFile": authorized,
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "AllowTcpForwarding": "yes" if forwarding else "no",
        "MaxSessions": sessions,
        "MaxStartups": 100,
        "UseDNS": "no",
        "LogLevel": "VERBOSE",
        **({"Subsystem": "sftp internal-sftp"} if sftp else {}),
        **({"SetEnv": f"HOME={folder / 'noisy'}"} if noise else {}),
    }
    config = folder / "sshd_config"
    config.write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(SSHD), "-D", "-e", "-f", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (home / ".ssh" / "config").touch()
    (home / ".ssh" / "known_hosts").touch()
    login = user or pwd.getpwuid(os.geteuid()).pw_name
    server = Sshd(port, login, home, folder, process)
    server.vouch(port)
    _await_greeting(server)
    return server


def generate_key(path: Path, passphrase: str = "", kind: str = "ed25519") -> None:
    """Make a key pair, unless it is there already."""
    if not path.exists():
        line = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", str(path)]
        subprocess.run(line, check=True, stdin=subprocess.DEVNULL)


def free_port() -> int:
    """Return a loopback port that is free at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _await_greeting(server: Sshd) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and server.process.poll() is None:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((server.host, server.port), 2) as probe,
        ):
            if probe.recv(4) == b"SSH-":
                return
        time.sleep(0.02)
    server.process.kill()
    server.process.wait()
    raise RuntimeError(f"sshd did not start: {(server.folder / 'log').read_text()}")
