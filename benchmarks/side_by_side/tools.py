"""How each tool is started, as somebody who knows it well would start it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.side_by_side.hosts import Hosts

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Started:
    """A process that ended well: what it printed."""

    out: str


def run(words: list[str], hosts: Hosts, **environment: str) -> Started:
    """Run a tool to its end; raises RuntimeError with its words when it fails."""
    ended = subprocess.run(
        words,
        cwd=hosts.project,
        env={**hosts.environment, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {ended.returncode}:\n{ended.stdout}")
    return Started(ended.stdout)


@cache
def environment_of(script: str) -> Path:
    """Return the folder of a tool's own environment, made by a script when it is not there."""
    made = subprocess.run(["sh", script], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return Path(made.stdout.strip().splitlines()[-1])


def ansible(hosts: Hosts, playbook: Path, *words: str, pipelining: bool) -> Started:
    """Run ansible-playbook: ten forks, one multiplexed connection a host, cold at first.

    Its interpreter is named, which spares it the search; host keys are checked.
    """
    program = environment_of("tests/parity/ansible.sh") / "bin" / "ansible-playbook"
    known = hosts.home / ".ssh" / "known_hosts"
    with control_paths() as folder:
        return run(
            [str(program), "-i", str(hosts.inventory), "--forks", "10", str(playbook), *words],
            hosts,
            ANSIBLE_SSH_CONTROL_PATH_DIR=str(folder),
            ANSIBLE_SSH_COMMON_ARGS=f"-o UserKnownHostsFile={known}",
            ANSIBLE_PYTHON_INTERPRETER="/usr/bin/python3",
            ANSIBLE_PIPELINING=str(pipelining),
            ANSIBLE_LOCALHOST_WARNING="false",
        )


@contextlib.contextmanager
def control_paths() -> Iterator[Path]:
    """Give a folder for the sockets of shared connections, and end those connections after."""
    with tempfile.TemporaryDirectory(prefix="cp") as folder:
        try:
            yield Path(folder)
        finally:
            for socket in Path(folder).iterdir():
                end = ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "any"]
                subprocess.run(end, check=False, capture_output=True)


def pyinfra(hosts: Hosts, deploy: Path, **environment: str) -> Started:
    """Run a deploy of pyinfra."""
    return run(
        [_pyinfra(), "-y", str(HERE / "pyinfra_hosts.py"), str(deploy)], hosts, **environment
    )


def pyinfra_start(hosts: Hosts) -> Started:
    """Start pyinfra up to its inventory: nothing is sent."""
    return run([_pyinfra(), str(HERE / "pyinfra_hosts.py"), "debug-inventory"], hosts)


def _pyinfra() -> str:
    return str(environment_of("benchmarks/pyinfra.sh") / "bin" / "pyinfra")


def fabric(hosts: Hosts, script: Path, **environment: str) -> Started:
    """Run a script that uses Fabric."""
    return run([sys.executable, str(script)], hosts, **environment)


def fabric_start(hosts: Hosts) -> Started:
    """Start Python and import Fabric: nothing is sent."""
    return run([sys.executable, "-c", "import fabric"], hosts)


def relight(hosts: Hosts, *words: str) -> Started:
    """Run relight from this checkout."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return run([sys.executable, "-m", "relight", *words], hosts, PYTHONPATH=path)
