"""Adoption: what somebody started by hand becomes known-good as it runs."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from relight.standin.archive import build
from tests.deadline import until
from tests.deploy.conftest import FAST, Rig

NAP = [sys.executable, "-c", "import time; time.sleep(600)"]


def free_port() -> int:
    """Return a port that nobody else's test takes."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def alive(pid: int) -> bool:
    """Return whether a process lives and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


@dataclass
class ByHand:
    """A server started as people do it: a shell, a log of one's own, relative paths."""

    rig: Rig
    folder: Path
    port: int = field(default_factory=free_port)
    shells: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(
        self, around: str = "{} & wait", *more: str, env: dict[str, str] | None = None
    ) -> int:
        """Start it in a shell of its own session, wait until it answers, return its process."""
        words = ["--model-path", "standin/old", "--served-model-name", "it's old"]
        words += ["--port", str(self.port), "--mem-fraction-static", "0.7", *more]
        command = shlex.join(["python3", "-m", "sglang.launch_server", *words])
        script = around.format(f"nohup {command} > old.log 2>&1 < /dev/null")
        shell = subprocess.Popen(
            ["/bin/sh", "-c", script],
            cwd=self.folder,
            env={**self.rig.env, **FAST, "PYTHONPATH": "archive.zip", **(env or {})},
            start_new_session=True,
        )
        self.shells.append(shell)
        until(self.answers, 60, "a server started by hand")
        return self.pid()

    def answers(self) -> bool:
        """Return whether it is healthy."""
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/health", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def pid(self) -> int:
        """Return the main process of the server."""
        wanted = [b"-m", b"sglang.launch_server"]
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
                cwd = (path.parent / "cwd").readlink()
            except OSError:
                continue
            if words[1:3] == wanted and cwd == self.folder:
                return int(path.parent.name)
        raise AssertionError("it does not run")

    def end(self) -> None:
        """End what is left of it, by session."""
        for shell in self.shells:
            for path in Path("/proc").glob("[0-9]*/stat"):
                try:
                    fields = path.read_text().rpartition(")")[2].split()
                    if int(fields[3]) == shell.pid:
                        os.kill(int(path.parent.name), signal.SIGKILL)
                except (OSError, IndexError):
                    continue
            shell.wait()


@pytest.fixture
def by_hand(rig: Rig, tmp_path: Path) -> Iterator[ByHand]:
    """Return what starts a server by hand in a folder of its own, beside a service at its port."""
    folder = tmp_path / "home" / "old place"
    folder.mkdir()
    (folder / "archive.zip").write_bytes(build())
    server = ByHand(rig, folder)
    rig.write(None, main={"preset": "tiny", "port": server.port})
    yield server
    server.end()


def test_it_is_known_good_and_runs_on(by_hand: ByHand) -> None:
    """Same process, confirmed, its secrets apart; a failed deploy brings it back from its bytes."""
    rig = by_hand.rig
    pid = by_hand.start(
        "{} & sleep 1000 & wait", "--api-key", "hunter2", env={"HF_TOKEN": "hf it's"}
    )
    ended = rig.run("adopt", "--host", rig.host)
    assert ended.code == 0, ended.everything
    seen = rig.observed()
    assert (seen.pid, seen.confirmed, seen.state) == (pid, True, "running")
    assert seen.foreign == ()
    assert seen.release is not None
    assert seen.release.served_name == "it's old"
    assert seen.release.engine_version == "0.5.10"
    assert "running" in rig.run("status", "--host", rig.host).out
    assert "The server is fired up" in rig.run("logs", "--host", rig.host).out
    release = rig.store() / "current"
    for name in ("launch.sh", "release.json"):
        assert "hunter2" not in (release / name).read_text()
        assert "hf it" not in (release / name).read_text()
    assert "hunter2" not in ended.everything
    assert "hunter2" not in (rig.store() / "ledger.jsonl").read_text()
    assert (release / "env").stat().st_mode & 0o777 == 0o400

    words = Path(f"/proc/{pid}/cmdline").read_bytes()
    failed = rig.deploy("--no-preflight", "--no-benchmark", "--set", "language-only=true")
    assert failed.code == 3, failed.everything
    assert not alive(pid)
    again = rig.observed()
    assert (again.current, again.confirmed) == (seen.current, True)
    assert Path(f"/proc/{again.pid}/cmdline").read_bytes() == words
    assert Path(f"/proc/{again.pid}/cwd").readlink() == by_hand.folder
    environ = Path(f"/proc/{again.pid}/environ").read_bytes().split(b"\0")
    assert {b"PYTHONPATH=archive.zip", b"HF_TOKEN=hf it's"} <= set(environ)


def test_another_key_is_another_release(by_hand: ByHand) -> None:
    """The same words with a new key, adopted again: the release of then keeps the key of then."""
    rig = by_hand.rig
    for key in ("hunter2", "hunter3", "hunter3"):
        by_hand.start("exec {}", "--api-key", key)
        ended = rig.run("adopt", "--host", rig.host)
        assert ended.code == 0, ended.everything
        assert rig.run("stop", "--host", rig.host).code == 0
    old, new = sorted((rig.store() / "releases").iterdir())
    assert old.name.replace("0001-", "0002-") == new.name
    assert "hunter2" in (old / "env").read_text()
    assert "hunter3" in (new / "env").read_text()


def test_a_deploy_replaces_it_and_leaves_bystanders_alone(by_hand: ByHand) -> None:
    """The server and its children end; the shell that started it and its other job stay."""
    rig = by_hand.rig
    job = shlex.join(NAP)
    pid = by_hand.start(f"{job} & {{}} & wait")
    assert rig.run("adopt", "--host", rig.host).code == 0
    tree = rig.observed().pids
    assert pid in tree
    assert len(tree) > 1
    assert by_hand.shells[0].pid not in tree
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    assert rig.answers() == "tiny"
    assert not any(alive(one) for one in tree)
    assert alive(by_hand.shells[0].pid)
    releases = rig.run("releases", "--host", rig.host).out
    assert "adopted" in releases


def test_stop_ends_a_session_that_is_its_own(by_hand: ByHand) -> None:
    """Under setsid the session is the server's: children that lost their parent are found by it."""
    rig = by_hand.rig
    pid = by_hand.start("exec {}")
    assert pid == by_hand.shells[0].pid
    assert rig.run("adopt", "--host", rig.host, "--pid", str(pid)).code == 0
    tree = rig.observed().pids
    ended = rig.run("stop", "--host", rig.host)
    assert ended.code == 0, ended.everything
    assert not any(alive(one) for one in tree)
    assert rig.observed().state == "stopped"
    assert rig.run("restart", "--host", rig.host).code == 0
    assert rig.answers() == "it's old"


def test_what_may_not_be_adopted_is_refused_in_words(by_hand: ByHand) -> None:
    """Nobody there, no engine, a container, relight's own: exit 2, nothing written for it."""
    rig = by_hand.rig
    nobody = rig.run("adopt", "--host", rig.host)
    assert nobody.code == 2, nobody.everything
    assert "there is none" in nobody.everything
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", by_hand.port))
        taken.listen()
        other = rig.run("adopt", "--host", rig.host)
        assert other.code == 2
        assert "no server that this engine knows" in other.everything
    assert not rig.store().exists()

    by_hand.start()
    checked = rig.run("adopt", "--host", rig.host, "--check")
    assert checked.code == 0, checked.everything
    assert "would adopt process" in checked.out
    assert not rig.store().exists()
    assert rig.run("adopt", "--host", rig.host).code == 0
    twice = rig.run("adopt", "--host", rig.host)
    assert twice.code == 2
    assert "relight's own" in twice.everything
