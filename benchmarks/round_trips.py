"""What a step costs over SSH: relight's connection, Fabric's run() and paramiko, side by side.

`python benchmarks/round_trips.py` starts an sshd of its own on loopback, and measures each of the
three there and through a relay with a round trip of 50 ms, one after the other in turn, so that a
busy machine is busy for all of them. `--port N --user U --key K` measures an sshd that already
runs. Round trips are counted by relight, and for all three estimated from the slope:
(time at 50 ms - time on loopback) / 50 ms. No case checks host keys: only the ways differ.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

# A script sees its own folder only: the root holds relight and the tests' sshd.
sys.path.insert(0, str(Path(__file__).parents[1]))

import fabric
import paramiko

from relight.connections import Connection, connect
from relight.core.address import Address
from tests import sshd as servers
from tests.testbed.relay import relaying

RTT = 0.05


@dataclass
class Case:
    """One way to do one thing, and what it took: seconds, and round trips where counted."""

    name: str
    act: Callable[[], object]
    counted: Callable[[], int] | None = None
    seconds: list[float] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)

    def measure(self) -> None:
        """Do it once."""
        before = self.counted() if self.counted else 0
        started = time.perf_counter()
        self.act()
        self.seconds.append(time.perf_counter() - started)
        if self.counted:
            self.waits.append(self.counted() - before)


def relight_cases(stack: contextlib.ExitStack, address: Address) -> list[Case]:
    """Return relight's cases over one connection; opening one is a case of its own."""
    connection: Connection = connect(address)
    stack.callback(connection.close)
    connection.control(":")

    def waits() -> int:
        return connection.round_trips

    return [
        Case("relight connect", lambda: connect(address).close()),
        Case("relight control", lambda: connection.control(":"), waits),
        Case("relight control, 4 KiB", lambda: connection.control("cat", data=b"x" * 4096), waits),
        Case("relight run", lambda: connection.run(":"), waits),
        Case("relight run, 4 KiB", lambda: connection.run("cat", data=b"x" * 4096), waits),
    ]


def fabric_cases(stack: contextlib.ExitStack, address: Address) -> list[Case]:
    """Return Fabric's cases, as Fabric comes."""
    given = {"key_filename": address.private_key_file}

    def opened() -> fabric.Connection:
        one = fabric.Connection(
            address.host, user=address.user, port=address.port, connect_kwargs=dict(given)
        )
        one.open()
        return one

    connection = opened()
    stack.callback(connection.close)
    return [
        Case("fabric open", lambda: opened().close()),
        Case("fabric run()", lambda: connection.run(":", hide=True, in_stream=False)),
    ]


def paramiko_cases(stack: contextlib.ExitStack, address: Address) -> list[Case]:
    """Return paramiko's cases, as paramiko comes."""

    def opened() -> paramiko.SSHClient:
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        client.connect(
            address.host or "",
            port=address.port or 22,
            username=address.user,
            key_filename=address.private_key_file,
        )
        return client

    client = opened()
    stack.callback(client.close)

    def execute() -> int:
        _, out, _ = client.exec_command(":")
        out.read()
        return out.channel.recv_exit_status()

    return [
        Case("paramiko connect", lambda: opened().close()),
        Case("paramiko exec_command", execute),
    ]


def measured(address: Address, rounds: int) -> list[Case]:
    """Measure all cases in turn, `rounds` times, after one round that does not count."""
    with contextlib.ExitStack() as stack:
        cases = [
            case
            for make in (relight_cases, fabric_cases, paramiko_cases)
            for case in make(stack, address)
        ]
        for case in cases:
            case.act()
        for _ in range(rounds):
            for case in cases:
                case.measure()
        return cases


@contextlib.contextmanager
def target(chosen: argparse.Namespace) -> Iterator[Address]:
    """Give the sshd to measure, one of our own unless a port was chosen."""
    if chosen.port:
        yield Address(
            name="target",
            host=chosen.host,
            port=chosen.port,
            user=chosen.user,
            private_key_file=chosen.key,
            host_key_checking=False,
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        server = servers.start(Path(folder) / "sshd", user=servers.ordinary_user())
        os.environ["HOME"] = str(server.home)
        os.environ.pop("SSH_AUTH_SOCK", None)
        try:
            yield server.address(host_key_checking=False)
        finally:
            server.stop()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, help="an sshd that runs already")
    parser.add_argument("--user")
    parser.add_argument("--key")
    chosen = parser.parse_args()
    with target(chosen) as address:
        near = measured(address, chosen.rounds)
        host, port = str(address.host), int(address.port or 22)
        with relaying(host, port, RTT / 2) as relay:
            far = measured(address.model_copy(update={"port": relay}), max(3, chosen.rounds // 2))
    print(
        "| case | ms, loopback: median (min) | ms, 50 ms RTT: median (min) "
        "| round trips: slope | counted |"
    )
    print("|---|---|---|---|---|")
    for here, there in zip(near, far, strict=True):
        slope = (statistics.median(there.seconds) - statistics.median(here.seconds)) / RTT
        counted = f"{statistics.mean(there.waits):.1f}" if there.waits else ""
        print(f"| {here.name} | {_shown(here)} | {_shown(there)} | {slope:.2f} | {counted} |")


def _shown(case: Case) -> str:
    median, least = statistics.median(case.seconds), min(case.seconds)
    return f"{median * 1000:.2f} ({least * 1000:.2f})"


if __name__ == "__main__":
    main()
