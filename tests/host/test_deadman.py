"""The dead-man: the host returns to known-good by itself, once, and never beside a live deploy."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.deadline import until
from tests.host.served import LISTENING, Served, alive, free_port

GOOD = "0001-good-0"
NEW = "0002-new-0"
RUNS = "echo up; exec sleep 600"


@pytest.fixture
def deploying(served: Served) -> Served:
    """A service with a known-good, in the middle of the next deploy: stopped, dead-man armed."""
    served.lock()
    served.start(GOOD, RUNS)
    served.do("promote", GOOD)
    served.do("unlock")
    served.lock(lease=30)
    served.do("arm", 30)
    served.do("stop", 5)
    served.release(NEW, RUNS)
    return served


def lose_lease(served: Served) -> None:
    """Let the lease be one that ran out, as if the controller had been silent for that long."""
    (served.folder / "lock/renewed").write_text("-1000\n")


def fired(served: Served) -> None:
    """Return when the dead-man has fired and is done."""
    until(lambda: "deadman_fired" in served.events(), 30, "a dead-man that fires")
    until(lambda: not (served.folder / "deadman").exists(), 30, "the end of its work")


def test_returns_to_known_good_at_its_deadline(deploying: Served) -> None:
    """A deploy that passes its deadline is undone by the host, which says so in the ledger."""
    served = deploying
    served.do("start", NEW)
    served.do("arm", 1)
    fired(served)
    observed = served.observed()
    assert (observed.state, observed.current) == ("running", GOOD)
    assert observed.confirmed
    assert served.events()[-4:] == ["stopping", "stopped", "started", "rolled_back"]
    last = served.ledger().last("rolled_back")
    assert last is not None
    assert last.text("why") == "deadman"
    assert "not_secrets_of" not in last.details
    assert served.call("promote", served.fence, NEW).returncode == 75


def test_returns_to_the_secrets_of_then(deploying: Served) -> None:
    """Known-good starts with what lies beside it, and the ledger says that it is not the same."""
    served = deploying
    releases = served.folder / "releases"
    for name, text in ((GOOD, "K='the old'\n"), (NEW, "K='the new'\n")):
        (releases / name / "env").write_text(text)
        launch = '#!/bin/sh\n. "${0%/*}/env"\necho "given $K"\nexec sleep 600\n'
        (releases / name / "launch.sh").write_text(launch)
    served.do("start", NEW)
    until(lambda: "given the new" in served.log(), 20, "a candidate")
    lose_lease(served)
    fired(served)
    until(lambda: "given the old" in served.log(), 20, "the known-good")
    last = served.ledger().last("rolled_back")
    assert last is not None
    assert last.text("not_secrets_of") == NEW


def test_fires_when_the_controller_falls_silent(deploying: Served) -> None:
    """Long before the deadline, the end of the lease is enough: the host is dark for no more."""
    lose_lease(deploying)
    fired(deploying)
    assert deploying.observed().confirmed
    entry = deploying.ledger().last("deadman_fired")
    assert entry is not None
    assert "silent" in entry.text("why")


def test_does_not_fire_while_the_lease_lives(deploying: Served) -> None:
    """A live controller within its deadline is left alone."""
    time.sleep(3)
    assert deploying.observed().deadman == "armed"
    assert "deadman_fired" not in deploying.events()


def test_disarmed_does_nothing(deploying: Served) -> None:
    """After a promotion and a disarm the end of the lease changes nothing."""
    served = deploying
    served.do("start", NEW)
    served.do("promote", NEW)
    guard = int((served.folder / "deadman.pid").read_text().split()[0])
    served.do("disarm")
    assert not (served.folder / "deadman.pid").exists()
    lose_lease(served)
    until(lambda: not alive(guard), 20, "the end of the guard")
    assert "deadman_fired" not in served.events()
    assert served.observed().current == NEW


def test_keeps_what_was_promoted_before_it_was_disarmed(deploying: Served) -> None:
    """A controller that dies between promotion and disarm leaves the new release, untouched."""
    served = deploying
    pid = served.do("start", NEW).split()[1]
    served.do("promote", NEW)
    lose_lease(served)
    fired(served)
    assert served.events()[-1] == "kept"
    assert served.observed().pid == int(pid)


def test_server_that_was_told_to_stop_is_not_kept(served: Served) -> None:
    """A known-good in the middle of its drain does not count as serving: it is started again."""
    served.lock()
    pid = served.start(GOOD, "trap 'exec sleep 600' TERM; echo up; while :; do sleep 0.1; done")
    until(lambda: "up" in served.log(), 20, "an engine")
    served.do("promote", GOOD)
    served.do("arm", 60)
    stopping = served.begin("stop", served.fence, 60)
    until(lambda: "stopping" in served.events(), 20, "a stop under way")
    until(lambda: served.launch("stopping").exists(), 20, "its mark")
    os.killpg(stopping.pid, signal.SIGKILL)
    assert alive(pid)
    lose_lease(served)
    fired(served)
    assert served.events()[-1] == "rolled_back"
    assert not alive(pid)


def test_a_new_lock_inherits_it(deploying: Served) -> None:
    """A deploy that begins where another died, and dies itself, leaves no dark host either."""
    served = deploying
    os.kill(int((served.folder / "lock/pid").read_text().split()[0]), signal.SIGKILL)
    until(lambda: not served.observed().locked, 20, "the end of the first holder")
    first = served.fence
    assert served.lock() == first + 1
    assert served.observed().deadman == "armed"
    lose_lease(served)
    fired(served)
    assert served.observed().confirmed


def test_killed_guard_is_replaced(deploying: Served) -> None:
    """A guard that somebody kills is started again by the holder of the lock, still armed."""
    served = deploying
    guard = int((served.folder / "deadman.pid").read_text().split()[0])
    os.kill(guard, signal.SIGKILL)

    def replaced() -> bool:
        now = int((served.folder / "deadman.pid").read_text().split()[0])
        return now != guard and alive(now)

    until(replaced, 20, "another guard")
    lose_lease(served)
    fired(served)
    assert served.observed().confirmed


def test_first_deploy_that_serves_is_left_to_be_confirmed(served: Served) -> None:
    """Without a known-good, a server that holds its port stays, and the ledger says unconfirmed."""
    port = free_port()
    served.lock()
    served.do("arm", 60)
    pid = served.start(NEW, LISTENING.format(port=port), port)
    until(lambda: "listening" in served.log(), 20, "a listening engine")
    lose_lease(served)
    fired(served)
    assert served.events()[-1] == "left_unconfirmed"
    assert alive(pid)


def test_first_deploy_that_does_not_serve_is_ended(served: Served) -> None:
    """Without a known-good, what does not listen on its port is stopped: it only holds GPUs."""
    served.lock()
    served.do("arm", 60)
    pid = served.start(NEW, RUNS, free_port())
    lose_lease(served)
    fired(served)
    assert served.events()[-1] == "gave_up"
    assert not alive(pid)


def test_one_server_when_it_fires_beside_a_step(deploying: Served) -> None:
    """A start that was sent just before the end of the lease and the dead-man do not run two."""
    served = deploying
    served.do("arm", 0)
    late = served.begin("start", served.fence, NEW)
    late.wait(60)
    fired(served)
    observed = served.observed()
    assert observed.confirmed
    assert observed.pids == (observed.pid,)
    writers = [pid for pid in served.processes() if writes_a_log(served, pid)]
    assert writers == [observed.pid]


def writes_a_log(served: Served, pid: int) -> bool:
    """Return whether a process writes to the log of any launch of this service."""
    return str(Path(f"/proc/{pid}/fd/1").readlink()).startswith(f"{served.folder}/launches/")


def test_clock_of_the_host_changes_nothing(served: Served, tmp_path: Path) -> None:
    """With a clock that jumps by decades at every look, nothing expires and nothing fires early."""
    folder = tmp_path / "jumps"
    folder.mkdir()
    clock = folder / "date"
    clock.write_text(
        f"#!/bin/sh\nn=$(cat {folder}/n 2>/dev/null || echo 0)\necho $((1 - n)) >{folder}/n\n"
        'exec /bin/date -d "$((1990 + 40 * n))-06-01" "$@"\n'
    )
    clock.chmod(0o755)
    served.path = f"{folder}:"
    served.lock(lease=30)
    served.do("arm", 30)
    served.start(NEW, RUNS)
    time.sleep(3)
    assert served.observed().locked
    assert served.observed().deadman == "armed"
    years = {entry.t[:4] for entry in served.ledger().entries}
    assert years == {"1990", "2030"}
