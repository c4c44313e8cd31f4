"""Rings 4 and 5: relight serves the real SGLang as a unit of a systemd host, over SSH."""

from __future__ import annotations

import json
import os
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
from tests.real.rig import COMMAND_SECONDS, Ended
from tests.testbed.base_image import USER
from tests.testbed.bed import Testbed
from tests.testbed.fixtures import lent
from tests.testbed.node import Bind

pytestmark = [pytest.mark.real, pytest.mark.testbed]

VERSION = "0.5.10"
PORT = 30000


@dataclass(frozen=True)
class Box:
    """A testbed's host as a host of a project."""

    bed: Testbed
    folder: Path

    def run(self, *words: str) -> Ended:
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
        return Ended(done.returncode, done.stdout)

    def answers(self) -> bool:
        """Return whether the tiny model is served on the host's own loopback."""
        asked = self.bed.ssh(1, f"curl -sS --max-time 30 http://127.0.0.1:{PORT}/v1/models")
        if asked.returncode:
            return False
        return [entry["id"] for entry in json.loads(asked.stdout)["data"]] == ["tiny"]

    def process(self) -> str:
        """Return the main process of the last launch, with its start time and boot."""
        told = self.bed.ssh(1, 'cd ~/.relight/main && cat "launches/$(cat last-launch)/pid"')
        assert told.returncode == 0, told.stderr
        return told.stdout.strip()


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


def test_serves_as_a_unit_and_again_after_a_reboot(box: Box) -> None:
    """Deploy, `ok` the second time, the known-good by itself after a reboot, then stopped."""
    ended = box.run("deploy", "--no-benchmark")
    assert ended.code == 0, ended.text
    assert box.answers()
    before = box.process()
    again = box.run("deploy", "--no-benchmark")
    assert again.code == 0, again.text
    assert "changed=0" in again.text
    assert box.process() == before

    box.bed.reboot(1)
    until(box.answers, 480, "an answer after the reboot", every=1)
    assert box.process() != before
    after = box.run("deploy", "--no-benchmark")
    assert after.code == 0, after.text
    assert "changed=0" in after.text

    stopped = box.run("stop")
    assert stopped.code == 0, stopped.text
    assert not box.answers()
    assert box.bed.ssh(1, f"pgrep -u {USER} -f '[s]glang'").returncode == 1
