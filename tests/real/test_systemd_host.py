"""Rings 4 and 5: relight serves the real SGLang as a unit of a systemd host, over SSH."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.deadline import until
from tests.real.environment import ensure, model
from tests.real.project import ROOT, host, preset, write
from tests.real.questions import is_explained
from tests.real.rig import COMMAND_SECONDS, Ended
from tests.real.server import ONE_THREAD, READY_LINE, command
from tests.testbed.base_image import USER
from tests.testbed.bed import Testbed
from tests.testbed.fixtures import lent
from tests.testbed.node import Bind

pytestmark = [pytest.mark.real, pytest.mark.testbed]

VERSION = "0.5.10"
PORT = 30000
START_SECONDS = 480
FAST = ("--no-benchmark", "--no-preflight")


@dataclass(frozen=True)
class Box:
    """A testbed's host as a host of a project."""

    bed: Testbed
    folder: Path

    def on(self, *words: str) -> Ended:
        """Run a command of relight on this machine, which reaches the host by ~/.ssh/config."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(self.folder / "home")}
        done = subprocess.run(
            [sys.executable, "-m", "relight", words[0], "--host", "node1", *words[1:]],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        sys.stdout.write(f"relight {' '.join(words)}: exit {done.returncode}\n{done.stdout}")
        return Ended(done.returncode, done.stdout)

    def says(self, shell: str) -> str:
        """Return what a command prints on the host, which must go well."""
        told = self.bed.ssh(1, shell)
        assert told.returncode == 0, told.stderr
        return told.stdout.strip()

    def answers(self) -> bool:
        """Return whether the tiny model is served on the host's own loopback."""
        asked = self.bed.ssh(1, f"curl -sS --max-time 30 http://127.0.0.1:{PORT}/v1/models")
        if asked.returncode:
            return False
        return [entry["id"] for entry in json.loads(asked.stdout)["data"]] == ["tiny"]

    def process(self) -> str:
        """Return the main process of the last launch, with its start time and boot."""
        return self.says('cd ~/.relight/main && cat "launches/$(cat last-launch)/pid"')

    def known_good(self) -> str:
        """Return the release that is known-good."""
        return self.says("basename $(readlink ~/.relight/main/known-good)")

    def ready(self) -> str:
        """Return what serves, deployed where nothing does, as `process` does."""
        if not self.answers():
            ended = self.on("deploy", "--no-benchmark")
            assert ended.code == 0, ended.text
        return self.process()

    def is_empty(self) -> bool:
        """Return whether no process of SGLang is left."""
        return self.bed.ssh(1, f"pgrep -u {USER} -f '[s]glang'").returncode == 1


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A host with the environment bound read-only, whose ordinary user may keep units."""
    python = ensure(VERSION)
    binds = [Bind(str(python.parents[1]), "/opt/sglang"), Bind(str(model()), "/opt/tiny-qwen3")]
    folder = tmp_path_factory.mktemp("systemd")
    with lent("relight-real") as bed:
        bed.up(1, binds)
        assert bed.ssh(1, f"sudo loginctl enable-linger {USER}").returncode == 0
        (folder / "home" / ".ssh").mkdir(parents=True, mode=0o700)
        shutil.copyfile(bed.access.config, folder / "home" / ".ssh" / "config")
        node = host(
            VERSION,
            Path("~/.relight"),
            ansible_connection="ssh",
            relight_engine={"python": "/opt/sglang/bin/python", "model_root": "/opt"},
            relight_launcher="systemd",
            relight_services={"main": {"preset": "tiny", "port": PORT}},
        )
        write(folder, {"node1": node}, {"tiny": preset(VERSION, model="tiny-qwen3")})
        yield Box(bed, folder)


def test_serves_as_a_unit_is_measured_and_explained(box: Box) -> None:
    """Deployed, measured, promoted and told of; `ok` the second time, by the same process."""
    ended = box.on("deploy")
    assert ended.code == 0, ended.text
    assert box.answers()
    assert box.says("systemctl --user show -p ActiveState --value relight-main") == "active"
    before = box.process()
    again = box.on("deploy")
    assert again.code == 0, again.text
    assert "changed=0" in again.text
    is_explained(box, VERSION, box.known_good())
    assert box.process() == before


def test_a_changed_flag_and_the_way_back(box: Box) -> None:
    """A unit of the changed release serves, then one of the first release's stored bytes."""
    before = box.ready()
    first = box.known_good()
    ended = box.on("deploy", *FAST, "--set", "max-running-requests=4")
    assert ended.code == 0, ended.text
    assert box.known_good() != first
    told = json.loads(box.says(f"curl -sS --max-time 60 http://127.0.0.1:{PORT}/server_info"))
    assert told["max_running_requests"] == 4
    back = box.on("rollback", "--to", first)
    assert back.code == 0, back.text
    assert box.known_good() == first
    assert box.process() != before
    assert box.answers()


def test_the_known_good_comes_back_with_the_machine_until_it_is_stopped(box: Box) -> None:
    """After a reboot it serves by itself, and is `ok`; after `stop` nothing is left."""
    before = box.ready()
    box.bed.reboot(1)
    until(box.answers, START_SECONDS, "an answer after the reboot", every=1)
    assert box.process() != before
    after = box.on("deploy", "--no-benchmark")
    assert after.code == 0, after.text
    assert "changed=0" in after.text
    stopped = box.on("stop")
    assert stopped.code == 0, stopped.text
    assert not box.answers()
    assert box.is_empty()


def test_a_server_that_was_started_by_hand_is_adopted(box: Box) -> None:
    """It becomes the known-good as it runs, is told of, and stops like any other."""
    if not box.is_empty():
        assert box.on("stop").code == 0
    words = shlex.join(command("/opt/sglang/bin/python", "/opt/tiny-qwen3", PORT))
    env = " ".join(f"{name}={value}" for name, value in ONE_THREAD.items())
    box.says(f"{env} setsid -f {words} >own.log 2>&1 </dev/null")
    until(lambda: READY_LINE in box.says("cat own.log"), START_SECONDS, "a ready line", every=0.5)
    adopted = box.on("adopt")
    assert adopted.code == 0, adopted.text
    running = box.process()
    assert box.says(f"pgrep -o -u {USER} -f '[s]glang.launch_server'") == running.split()[0]
    explained = box.on("explain", "--flag", "context-length")
    assert "asked and got" in explained.text
    status = box.on("status").text
    assert "running" in status
    assert box.known_good() in status
    stopped = box.on("stop")
    assert stopped.code == 0, stopped.text
    assert box.is_empty()
