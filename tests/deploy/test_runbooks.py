"""Every command of docs/runbooks is run in its situation, and ends as stands behind it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.deadline import until
from tests.deploy.conftest import FAST, PRESET, ROOT, Rig
from tests.deploy.scenarios import free_port

pytestmark = pytest.mark.scenarios

PAGES = ROOT / "docs" / "runbooks"
_COMMAND = re.compile(r'^inv (?P<words>.+?) +# (?P<code>\d+): "(?P<told>[^"]+)"$')
_CHUNKED: dict[str, Any] = {"flags": {**PRESET["flags"], "enable-mixed-chunk": True}}
_CRASH = "unattributed_crash:when=enable-mixed-chunk"
_SMI = """#!/bin/sh
case $* in *compute-apps*) exit 0 ;; esac
echo "0, NVIDIA RTX A6000, GPU-0, 49140, 900, 8.6, 570.1, 4, 4, 16, 16, 0"
[ -e "$HOME/lost" ] || echo "1, NVIDIA RTX A6000, GPU-1, 49140, 900, 8.6, 570.1, 4, 4, 16, 16, 0"
"""


@dataclass(frozen=True)
class Command:
    """One line of a page: under which heading, what is typed, how it ends, what it tells."""

    heading: str
    words: tuple[str, ...]
    code: int
    told: str


@dataclass
class Ground:
    """What a situation leaves: names that stand for others, and what happens under a heading."""

    names: dict[str, str] = field(default_factory=dict)
    under: Mapping[str, Callable[[], None]] = field(default_factory=dict)


def commands(page: Path) -> list[Command]:
    """Return the commands of a page in their order."""
    found, heading = [], ""
    for line in page.read_text(encoding="utf-8").splitlines():
        heading = line.removeprefix("## ") if line.startswith("## ") else heading
        if line.startswith("inv "):
            said = _COMMAND.match(line)
            assert said, f"{page.name}: no exit code and word behind: {line}"
            words = tuple(said["words"].split())
            found.append(Command(heading, words, int(said["code"]), said["told"]))
    return found


def yaml_files(page: Path) -> dict[str, str]:
    """Return the files that a page shows, by their names."""
    text = page.read_text(encoding="utf-8")
    return dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", text, re.DOTALL))


def deployed(rig: Rig, *words: str) -> str:
    """Deploy, which must work, and return the release that serves."""
    ended = rig.deploy(*words)
    assert ended.code == 0, ended.everything
    return str(rig.observed().current)


def kill_server(rig: Rig) -> None:
    """End the server as the machine's memory killer would."""
    for pid in rig.observed().pids:
        os.kill(pid, signal.SIGKILL)
    until(lambda: rig.observed().state == "exited", 20, "the server's end to be noticed")


def server_down_at_night(rig: Rig) -> Ground:
    """Let it serve, and kill it."""
    deployed(rig)
    kill_server(rig)
    return Ground()


def a_flag_made_it_fail(rig: Rig) -> Ground:
    """Give the preset a flag with which the launch dies, and which no check refuses."""
    deployed(rig)
    rig.write({**_CHUNKED, "env": {"RELIGHT_STANDIN_SCENARIO": _CRASH}})
    return Ground()


def slow_after_an_upgrade(rig: Rig) -> Ground:
    """Deploy a newer engine that takes ten times as long a token, without measuring it."""
    rig.write({"benchmark": {"requests": 4, "max_tokens": 48}})
    old = deployed(rig)
    env = {**FAST, "RELIGHT_STANDIN_SCENARIO": "slow"}
    newer = {"python": "python3", "archive": "standin:0.5.23", "env": env}
    rig.host_vars["relight_engine"] = newer
    rig.write({"benchmark": {"requests": 4, "max_tokens": 48}})
    return Ground({"OLD": old, "NEW": deployed(rig, "--no-benchmark")})


def gpu_lost(rig: Rig) -> Ground:
    """Serve from two GPUs, as a driver of the test's own tells, and take one away."""
    programs = rig.folder / "bin"
    programs.mkdir()
    (programs / "nvidia-smi").write_text(_SMI)
    (programs / "nvidia-smi").chmod(0o755)
    rig.env["PATH"] = f"{programs}:{rig.env['PATH']}"
    rig.host_vars["relight_gpus"] = [{"name": "NVIDIA RTX A6000", "count": 2, "memory_gb": 48}]
    two = {"flags": {**PRESET["flags"], "tp-size": 2}}
    rig.write(two, main={"preset": "tiny", "port": rig.port, "gpus": [0, 1]})
    deployed(rig)
    small = json.dumps({**PRESET, "model": "standin/small"})
    (rig.folder / "inventory" / "presets" / "qwen3-8b.yml").write_text(small)
    lost = rig.home / "lost"
    lost.touch()
    kill_server(rig)
    return Ground(under={"It is back": lost.unlink})


def disk_full(rig: Rig) -> Ground:
    """Fill the host's home, a small file system of its own, while a change waits."""
    deployed(rig, "--no-benchmark")
    rig.write({"flags": {**PRESET["flags"], "random-seed": 3}})
    ballast = rig.home / "ballast"
    with ballast.open("wb") as file:
        file.write(bytes((_free_kb(rig.home) - 1024) * 1024))
    return Ground(under={"There is room": ballast.unlink})


def roll_back_now(rig: Rig) -> Ground:
    """Deploy twice: the second passes its proof."""
    old = deployed(rig, "--no-benchmark")
    rig.write({"flags": {**PRESET["flags"], "random-seed": 3}})
    deployed(rig, "--no-benchmark")
    return Ground({"OLD": old})


SITUATIONS: Mapping[str, Callable[[Rig], Ground]] = {
    "server-down-at-night": server_down_at_night,
    "a-flag-made-it-fail": a_flag_made_it_fail,
    "slow-after-an-upgrade": slow_after_an_upgrade,
    "gpu-lost": gpu_lost,
    "disk-full": disk_full,
    "roll-back-now": roll_back_now,
}


def _free_kb(folder: Path) -> int:
    seen = os.statvfs(folder)
    return seen.f_bavail * seen.f_frsize // 1024


@pytest.fixture
def small_home(rig: Rig, request: pytest.FixtureRequest) -> Iterator[None]:
    """Put the home of the page that needs it on a file system of 200 MB; only root may."""
    if request.node.callspec.params["name"] != "disk-full":
        yield
        return
    words = ["mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", str(rig.home)]
    if os.geteuid() != 0 or subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("a small file system needs root, and leave to mount")
    try:
        yield
    finally:
        rig.kill_all()
        subprocess.run(["umount", "-l", str(rig.home)], check=True)


def test_every_situation_has_its_page_and_stands_in_the_index() -> None:
    """A page without a situation would not be run; one that the index lacks is not found."""
    pages = {page.stem for page in PAGES.glob("*.md")} - {"README"}
    assert pages == set(SITUATIONS)
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    assert {name for name in pages if f"({name}.md)" not in index} == set()


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.usefixtures("small_home")
def test_the_commands_of_a_page_end_and_tell_as_written(name: str, rig: Rig) -> None:
    """In the page's situation, in the page's order: exit code and words as they stand there."""
    rig.port = free_port()
    rig.write()
    ground = SITUATIONS[name](rig)
    page = PAGES / f"{name}.md"
    names = {"ct129": rig.host, "30000": str(rig.port), **ground.names}
    for file, text in yaml_files(page).items():
        (rig.folder / file).write_text(_named(text, names))
    happens = dict(ground.under)
    found = commands(page)
    assert len(found) >= 4
    for command in found:
        happens.pop(command.heading, lambda: None)()
        words = tuple(_named(word, names) for word in command.words)
        ended = rig.run(*words, timeout=200)
        told = f"inv {' '.join(words)} ended with {ended.code}:\n{ended.everything}"
        assert (ended.code, command.told in ended.everything) == (command.code, True), told
    assert happens == {}, json.dumps(sorted(happens))
    assert rig.observed().confirmed


def _named(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return text
