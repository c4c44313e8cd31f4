"""What the host says of a service: its state after every kind of end, and what it prunes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deadline import until
from tests.host.served import LISTENING, Served, free_port, script_text

RUNS = "echo up; exec sleep 600"
OTHER_BOOT = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def crowd() -> Iterator[None]:
    """Three hundred other processes."""
    sleeping = [subprocess.Popen(["sleep", "600"]) for _ in range(300)]
    yield
    for process in sleeping:
        process.kill()
    for process in sleeping:
        process.wait()


def test_nothing_was_ever_deployed(served: Served) -> None:
    """A service without a launch is `none`."""
    assert served.observed().state == "none"


def test_reboot_is_told_from_a_crash(served: Served) -> None:
    """A launch of another boot is `rebooted`, and no process of this boot is taken for it."""
    served.lock()
    pid = served.start("0001-a-0", RUNS)
    served.do("arm", 60)
    for name in ("launches/1/boot", "launches/1/pid", "launches/1/supervisor", "deadman"):
        file = served.folder / name
        file.write_text(" ".join([*file.read_text().split()[:-1], OTHER_BOOT]) + "\n")
    observed = served.observed()
    assert (observed.state, observed.pids, observed.deadman) == ("rebooted", (), "stale")
    os.kill(pid, signal.SIGKILL)


def test_server_and_supervisor_gone_without_a_status(served: Served) -> None:
    """A launch whose supervisor was killed with it is `lost`, not running and not exited."""
    served.lock()
    pid = served.start("0001-a-0", RUNS)
    os.kill(int(served.launch("supervisor").read_text().split()[0]), signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    until(lambda: served.observed().state == "lost", 20, "a lost server")


def test_killed_from_outside(served: Served) -> None:
    """A server that somebody killed has exited, with the status that a shell gives it."""
    served.lock()
    os.kill(served.start("0001-a-0", RUNS), signal.SIGKILL)
    until(lambda: served.observed().state == "exited", 20, "an exit status")
    assert served.observed().exit == 137


def test_looks_are_quick_on_a_busy_host(served: Served, crowd: None) -> None:
    """Status and pulse cost little CPU time among 300 processes, the best of three."""
    port = free_port()
    served.lock()
    served.start("0001-a-0", LISTENING.format(port=port), port)
    until(lambda: "listening" in served.log(), 20, "a listening engine")

    def cost(*words: str | int) -> float:
        before = os.times()
        served.good(*words)
        after = os.times()
        return (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )

    assert min(cost("status", port) for _ in range(3)) < 0.15
    assert min(cost("pulse", 1, served.fence, port) for _ in range(3)) < 0.15


def test_prune_keeps_what_is_needed(served: Served) -> None:
    """Old releases and launches go; current, known-good and its last launch stay."""
    served.lock()
    for number in range(1, 6):
        name = f"000{number}-a-0"
        served.start(name, RUNS)
        if number == 2:
            served.do("promote", name)
        served.do("stop", 5)
    served.do("prune", 1)
    assert sorted(path.name for path in (served.folder / "releases").iterdir()) == [
        "0002-a-0",
        "0005-a-0",
    ]
    assert sorted(path.name for path in (served.folder / "launches").iterdir()) == ["2", "5"]


def test_prune_keeps_what_takes_a_secret_out_of_a_log(served: Served) -> None:
    """A release stays as long as a log of it; an older relight's secrets as long as it is read."""
    served.lock()
    for number in range(1, 4):
        reads = '. "$RELIGHT_SERVICE_DIR/env"; ' if number == 1 else ""
        served.start(f"000{number}-a-0", reads + RUNS)
        served.do("stop", 5)
    folders = served.folder / "releases"
    (served.folder / "env").touch()
    (served.folder / "flags.yaml").touch()
    (folders / ".new-0004-a-0").mkdir()
    served.do("start", "0001-a-0")
    served.do("prune", 1)
    assert sorted(path.name for path in folders.iterdir()) == ["0001-a-0", "0003-a-0"]
    assert (served.folder / "env").exists()
    served.do("stop", 5)
    served.do("start", "0003-a-0")
    served.do("prune", 1)
    assert [path.name for path in folders.iterdir()] == ["0003-a-0"]
    assert not (served.folder / "env").exists()
    assert not (served.folder / "flags.yaml").exists()


def test_log_is_held_within_its_limit(served: Served) -> None:
    """A log that grows for ever keeps its head and its tail, and says that its middle is gone."""
    text = script_text(log_limit="200000", log_head="1000", log_tail="50000")
    (served.folder / "host.sh").write_text(text)
    served.lock()
    counts = (
        "python3 -c 'import itertools, time\nfor n in itertools.count():\n"
        ' print(f"line {n:08d}", flush=True)\n time.sleep(0.0001)\''
    )
    served.start("0001-a-0", f"exec {counts}")
    log = served.launch("server.log")
    until(lambda: "its middle was cut" in log.read_text(), 40, "a log that was cut")
    text = log.read_text()
    assert text.startswith("line 00000000\n")
    assert text[:1000].splitlines()[:70] == [f"line {n:08d}" for n in range(70)]
    tail = text.partition("[relight: the log was longer")[2]
    size = log.stat().st_size
    assert size < 200000
    until(lambda: log.stat().st_size > size, 20, "an engine that goes on writing")
    assert log.stat().st_mode & 0o777 == 0o600
    assert "\0" not in tail
    served.do("stop", 5)


def test_processes_of_relight_are_not_the_servers(served: Served) -> None:
    """Supervisor, log keeper, lock holder and guard are none of the server's processes."""
    served.lock()
    served.do("arm", 60)
    pid = served.start("0001-a-0", RUNS)
    until(lambda: served.launch("keeper").exists(), 20, "the keeper of the log")
    assert served.observed().pids == (pid,)
    served.do("stop", 5)
    began = time.monotonic()
    supervisor = int(Path(served.launch("supervisor")).read_text().split()[0])
    until(lambda: not Path(f"/proc/{supervisor}").exists(), 20, "the end of the supervisor")
    assert time.monotonic() - began < 20
