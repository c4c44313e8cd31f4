"""Ring 3: adoption as an ordinary user, out of tmux, and never of another user's server."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from relight.standin.archive import build
from tests.deadline import until
from tests.deploy.conftest import FAST, Rig
from tests.deploy.test_over_ssh import observed, ssh_rig

__all__ = ["ssh_rig"]
pytestmark = [
    pytest.mark.ssh,
    pytest.mark.skipif(os.geteuid() != 0, reason="two users take root"),
]


def serves(port: int) -> bool:
    """Return whether a server is healthy."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture
def port() -> int:
    """Return a port that nobody else's test takes."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory, ssh_rig: Rig, port: int) -> Iterator[Path]:
    """Return a folder that everybody may read, with the engine in it; its processes end."""
    folder = Path("/tmp") / f"relight-adopt-{os.getpid()}"  # pytest's own folders are private
    folder.mkdir()
    (folder / "archive.zip").write_bytes(build())
    folder.chmod(0o777)
    ssh_rig.write(None, main={"preset": "tiny", "port": port})
    yield folder
    for path in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if path.readlink() == folder:
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            continue
    shutil.rmtree(folder)


def command(port: int) -> str:
    """Return the shell text that starts the server."""
    env = " ".join(
        f"{name}={value}" for name, value in {**FAST, "PYTHONPATH": "archive.zip"}.items()
    )
    words = f"--model-path standin/old --served-model-name old --port {port}"
    return f"{env} python3 -m sglang.launch_server {words}"


def test_another_users_server_is_refused(ssh_rig: Rig, place: Path, port: int) -> None:
    """It is seen by its socket alone: the user is named, and nothing is written."""
    with subprocess.Popen(["sh", "-c", f"exec env {command(port)}"], cwd=place) as server:
        until(lambda: serves(port), 60, "the other user's server")
        refused = ssh_rig.run("adopt", "--host", ssh_rig.host)
        named = ssh_rig.run("adopt", "--host", ssh_rig.host, "--pid", str(server.pid))
        server.kill()
    for ended in (refused, named):
        assert ended.code == 2, ended.everything
        assert "log in as that user" in ended.everything
    assert observed(ssh_rig).launch == 0


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_server_in_tmux_is_replaced_and_tmux_stays(ssh_rig: Rig, place: Path, port: int) -> None:
    """Typed at a prompt in a pane: adopted, then deployed over; the pane's shell is still there."""
    user = ssh_rig.host_vars["ansible_user"]
    tmux = ["runuser", "-u", user, "--", "tmux", "-S", str(place / "tmux")]
    subprocess.run([*tmux, "new-session", "-d", "-c", str(place), "sh"], check=True, cwd=place)
    typed = f"cd {shlex.quote(str(place))}; {command(port)} 2>&1 | tee old.log"
    subprocess.run([*tmux, "send-keys", typed, "Enter"], check=True)
    until(lambda: serves(port), 60, "the server in tmux")
    try:
        ended = ssh_rig.run("adopt", "--host", ssh_rig.host)
        assert ended.code == 0, ended.everything
        seen = observed(ssh_rig)
        assert seen.confirmed
        assert "writes to no file" in ssh_rig.run("logs", "--host", ssh_rig.host).out
        deployed = ssh_rig.deploy("--no-benchmark")
        assert deployed.code == 0, deployed.everything
        panes = subprocess.run(
            [*tmux, "list-panes", "-F", "#{pane_dead} #{pane_current_command}"],
            check=True,
            capture_output=True,
            text=True,
        )
        assert panes.stdout.split() == ["0", "sh"]
        assert observed(ssh_rig).current != seen.current
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
