"""Start and stop of one server by the host script: what is ours ends, what is not is left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.deadline import until
from tests.host.served import LISTENING, Served, alive, free_port

SAYS = "echo up; "
IGNORES_TERM = SAYS + "trap '' TERM; while :; do sleep 0.1; done"
IGNORES_ALL = SAYS + "trap '' TERM INT; while :; do sleep 0.1; done"


def up(served: Served) -> None:
    """Return when the engine has said that it is up."""
    until(lambda: "up" in served.log(), 20, "the engine's first word")


def child(served: Served, name: str) -> int:
    """Return the process whose number the engine wrote to a file of the service."""
    file = served.folder / name
    until(lambda: file.exists() and file.read_text().strip() != "", 20, f"a process in {name}")
    return int(file.read_text())


def test_start_is_detached_with_a_log_of_its_own(served: Served) -> None:
    """A started server leads its tree, writes to its launch's own private log, and runs on."""
    served.lock()
    pid = served.start("0001-a-0", SAYS + "exec sleep 600")
    up(served)
    observed = served.observed()
    assert (observed.state, observed.pid, observed.current) == ("running", pid, "0001-a-0")
    assert observed.pids == (pid,)
    assert served.launch("server.log").stat().st_mode & 0o777 == 0o600
    assert served.launch("").stat().st_mode & 0o777 == 0o700


def test_engine_inherits_nothing(served: Served) -> None:
    """The engine has three descriptors, none of them the lock's, and no locale of ours."""
    served.lock()
    pid = served.start("0001-a-0", SAYS + "exec sleep 600")
    up(served)
    links = sorted(str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir())
    assert links == sorted(["/dev/null", *[str(served.launch("server.log"))] * 2])
    assert b"LC_ALL=" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_engine_can_be_interrupted(served: Served) -> None:
    """SIGINT has its default effect on the engine, which a shell's background job would ignore."""
    served.lock()
    pid = served.start("0001-a-0", SAYS + "exec sleep 600")
    up(served)
    os.kill(pid, signal.SIGINT)
    until(lambda: served.observed().state == "exited", 20, "the end of the engine")
    assert served.observed().exit == 130


def test_exit_status_is_kept(served: Served) -> None:
    """The status of a server that ended by itself is there the moment it ends."""
    served.lock()
    served.start("0001-a-0", "exit 7")
    until(lambda: served.launch("exit").exists(), 20, "an exit status")
    observed = served.observed()
    assert (observed.state, observed.exit) == ("exited", 7)


def test_second_start_is_refused(served: Served) -> None:
    """Two servers of one service never run: a start beside a running launch is refused."""
    served.lock()
    pid = served.start("0001-a-0", SAYS + "exec sleep 600")
    served.release("0002-b-0", "exec sleep 600")
    refused = served.call("start", served.fence, "0002-b-0")
    assert refused.returncode == 72
    assert "still running" in refused.stderr
    assert alive(pid)


def test_stop_drains(served: Served) -> None:
    """A server that ends on SIGTERM was drained; nothing of it is left, its status is known."""
    served.lock()
    pid = served.start("0001-a-0", SAYS + "exec sleep 600")
    up(served)
    assert served.do("stop", 5) == "drained"
    assert not alive(pid)
    assert served.observed().exit == 143
    assert served.events()[-2:] == ["stopping", "stopped"]


@pytest.mark.parametrize(
    ("engine", "how"), [(IGNORES_TERM, "interrupted"), (IGNORES_ALL, "killed")]
)
def test_stop_goes_on_when_signals_are_ignored(served: Served, engine: str, how: str) -> None:
    """After the drain comes SIGINT, then SIGKILL; the answer says which one it took."""
    served.lock()
    pid = served.start("0001-a-0", engine)
    up(served)
    assert served.do("stop", 1) == how
    assert not alive(pid)
    assert served.observed().pids == ()


def test_stop_finds_a_child_that_left_the_session(served: Served) -> None:
    """A child in a session of its own is known by its environment, and ends with the server."""
    served.lock()
    away = f"setsid sh -c 'echo $$ >{served.folder}/away; exec sleep 600' >/dev/null 2>&1 & "
    served.start("0001-a-0", away + SAYS + "exec sleep 600")
    left = child(served, "away")
    assert left in served.observed().pids
    assert served.do("stop", 2) == "killed"
    assert not alive(left)


def test_stop_finds_a_child_without_environment(served: Served) -> None:
    """A child whose title overwrote its environment is known by the log that it writes to."""
    served.lock()
    away = f"setsid env -i sh -c 'echo $$ >{served.folder}/away; exec sleep 600' & "
    served.start("0001-a-0", away + SAYS + "exec sleep 600")
    left = child(served, "away")
    assert b"RELIGHT" not in Path(f"/proc/{left}/environ").read_bytes()
    served.do("stop", 2)
    assert not alive(left)


def test_stop_ends_orphans_that_still_import(served: Served) -> None:
    """Children that outlive a main process killed during its imports do not wait out the drain."""
    served.lock()
    orphan = f"sh -c 'echo $$ >{served.folder}/away; trap \"\" TERM; sleep 600; :' & "
    served.start("0001-a-0", orphan + "exec sleep 600")
    left = child(served, "away")
    began = time.monotonic()
    served.do("stop", 60)
    assert time.monotonic() - began < 30
    assert not alive(left)
    assert served.observed().pids == ()


def test_stop_without_a_server_is_nothing(served: Served) -> None:
    """A stop where nothing runs succeeds and records nothing."""
    served.lock()
    assert served.do("stop", 5) == ""
    assert "stopping" not in served.events()


def test_foreign_process_on_the_port_is_named_and_left(served: Served) -> None:
    """Who holds the port and is not ours is described, and outlives every stop of ours."""
    port = free_port()
    with subprocess.Popen(
        ["sh", "-c", LISTENING.format(port=port)], stdout=subprocess.PIPE, text=True
    ) as foreign:
        try:
            assert foreign.stdout
            foreign.stdout.readline()
            served.lock()
            served.start("0001-a-0", SAYS + "exec sleep 600", port)
            up(served)
            pulse = served.pulse(port)
            assert pulse.port_pids == (foreign.pid,)
            assert len(pulse.foreign) == 1
            assert f"pid {foreign.pid} " in pulse.foreign[0]
            assert not pulse.owns_port
            served.do("stop", 5)
            assert foreign.poll() is None
            assert f"pid {foreign.pid} " in served.observed(port).foreign[0]
        finally:
            foreign.kill()


def test_own_port_is_own(served: Served) -> None:
    """A server that listens on its port owns it."""
    port = free_port()
    served.lock()
    pid = served.start("0001-a-0", LISTENING.format(port=port), port)
    until(lambda: "listening" in served.log(), 20, "a listening engine")
    pulse = served.pulse(port)
    assert pulse.port_pids == (pid,)
    assert pulse.owns_port


def test_another_number_of_the_same_process_is_not_ours(served: Served) -> None:
    """A process that got the number of a dead server is not taken for it."""
    served.lock()
    served.start("0001-a-0", "exit 0")
    until(lambda: served.launch("exit").exists(), 20, "an exit status")
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            for name in ("pid", "supervisor"):
                served.launch(name).write_text(f"{other.pid} 1 {boot}\n")
            assert served.observed().state == "exited"
            assert served.observed().pids == ()
            served.do("stop", 1)
            assert other.poll() is None
        finally:
            other.kill()


def test_quit_stays_stopped_until_the_next_start(served: Served) -> None:
    """What the operator stopped is `stopped`, not exited; a start takes that back."""
    served.lock()
    served.start("0001-a-0", SAYS + "exec sleep 600")
    up(served)
    assert served.do("quit", 5) == "drained"
    assert served.observed().state == "stopped"
    served.do("start", "0001-a-0")
    assert served.observed().state == "running"


def test_follow_ends_with_the_launch(served: Served) -> None:
    """The log is streamed from a byte on, and the stream ends when the server does."""
    served.lock()
    served.start("0001-a-0", "echo one; echo two; sleep 1; echo three")
    following = served.begin("follow", 1, 4)
    out, _ = following.communicate(timeout=20)
    assert out == "two\nthree\n"


def test_supervisor_passes_sigterm_on(served: Served) -> None:
    """The SIGTERM of a machine that goes down reaches the engine, whose status is still kept."""
    served.lock()
    served.start(
        "0001-a-0", "trap 'echo bye; exit 3' TERM; " + SAYS + "while :; do sleep 0.1; done"
    )
    up(served)
    os.kill(int(served.launch("supervisor").read_text().split()[0]), signal.SIGTERM)
    until(lambda: served.launch("exit").exists(), 20, "an exit status")
    assert served.observed().exit == 3
    assert "bye" in served.log()
