"""Ring 4, the launchers on real hosts: what comes back by itself, what never does."""

from __future__ import annotations

import os
import signal
import time

import pytest

from relight import launchers
from relight.store.host_script import assemble
from tests.deadline import until
from tests.host.conftest import AS_ROOT, AS_USER, PLAIN
from tests.host.field import Field, Site
from tests.host.served import TEMPLATES

pytestmark = pytest.mark.testbed
RESTART_SECONDS = 5
"""RestartSec of the unit."""


def kill_engine(held: Field, site: Site) -> None:
    """Kill a host's server from outside."""
    held.bed.ssh(site.number, f"kill -KILL {held.observed(site).pid}", user="root")


@pytest.mark.parametrize("site", [AS_ROOT, AS_USER], ids=["root", "user"])
def test_known_good_comes_back_after_a_failure(held: Field, site: Site) -> None:
    """A known-good that was killed serves again by itself, and the ledger says so."""
    before = held.observed(site)
    kill_engine(held, site)
    until(lambda: held.events(site)[-1] == "restarted", 40, "a restart")
    after = held.settled(site)
    assert (after.current, after.launch) == (before.current, before.launch + 1)
    assert after.pid != before.pid
    assert after.restarts > before.restarts


def test_restarts_have_a_limit(held: Field) -> None:
    """A known-good that cannot live is not started for ever."""
    shown = held.says(AS_ROOT, "systemctl show -p Restart,StartLimitBurst relight-main").split()
    assert sorted(shown) == ["Restart=always", "StartLimitBurst=5"]


def test_promotion_does_not_restart(held: Field) -> None:
    """The process that was proved is the one that serves as known-good, under the kept unit."""
    code, said = held.deploy(AS_USER, "--set", "max-running-requests=31", "--no-benchmark")
    assert code == 0, said
    events = held.events(AS_USER)
    assert events[-5:] == ["stopped", "started", "ready", "promoted", "unlocked"]
    observed = held.observed(AS_USER)
    assert f"(pid {observed.pid})" in said
    unit = "systemctl --user show -p Restart --value relight-main"
    assert held.says(AS_USER, f"XDG_RUNTIME_DIR=/run/user/$(id -u) {unit}") == "always\n"


def test_candidate_never_comes_back(held: Field) -> None:
    """A candidate is not restarted after a failure, nor after a reboot: there known-good serves."""
    lease, held.lease = held.lease, 120
    held.write()
    try:
        good = held.observed(AS_ROOT).known_good
        launches = held.observed(AS_ROOT).launch
        deploy = held.start("deploy", "--host", AS_ROOT.name, "--set", "max-running-requests=32")
        until(lambda: held.observed(AS_ROOT).launch > launches, 90, "a candidate", every=0.2)
        os.killpg(deploy.pid, signal.SIGKILL)
        until(lambda: held.observed(AS_ROOT).pid is not None, 20, "its process")
        kill_engine(held, AS_ROOT)
        ends = time.monotonic() + RESTART_SECONDS + 3
        while time.monotonic() < ends:
            assert held.engines(AS_ROOT) == []
            time.sleep(0.5)
        assert held.observed(AS_ROOT).current != good
        held.bed.reboot(1)
        assert held.settled(AS_ROOT).current == good
        assert held.events(AS_ROOT)[-1] == "restarted"
    finally:
        held.lease = lease
        held.write()
    _, said = held.run("status", "--host", AS_ROOT.name)
    assert "running" in said
    assert "unfinished" not in said


def test_reboot(held: Field) -> None:
    """After a reboot units serve; a plain service says that it is down, and a deploy lights it."""
    held.bed.reboot(2)
    held.bed.reboot(1)
    for site in (AS_ROOT, AS_USER):
        held.settled(site)
    _, said = held.run("status", "--host", PLAIN.name)
    assert "down since reboot" in " ".join(said.split())
    code, said = held.deploy(PLAIN)
    assert code == 0, said
    assert held.observed(PLAIN).confirmed


def test_stop_stays_down(held: Field) -> None:
    """What the operator stopped is down after a reboot as well, until it is asked for again."""
    code, said = held.run("stop", "--host", AS_USER.name)
    assert code == 0, said
    held.bed.reboot(2)
    time.sleep(RESTART_SECONDS + 1)
    assert held.observed(AS_USER).state == "stopped"
    assert held.engines(AS_USER) == []
    code, said = held.run("restart", "--host", AS_USER.name)
    assert code == 0, said
    assert held.observed(AS_USER).confirmed


def test_stop_finds_what_only_the_control_group_knows(held: Field) -> None:
    """A child without session, environment or log in common ends with the unit."""
    text = assemble(lambda name: (TEMPLATES / name).read_text(), launchers.load("systemd")).text
    place = held.file(AS_ROOT, "", "bare")
    release = place / "releases" / "0001-bare-0"
    release.mkdir(parents=True)
    (place / "host.sh").write_bytes(text)
    (release / "launch.sh").write_text(
        "setsid env -i sleep 7001 </dev/null >/dev/null 2>&1 &\nexec sleep 7002\n"
    )
    script = f"sh {AS_ROOT.store}/bare/host.sh"
    fence = held.says(AS_ROOT, f"{script} lock 60 '{{}}'").strip()
    held.says(AS_ROOT, f"{script} start {fence} 0001-bare-0")
    escaped = held.says(AS_ROOT, "pgrep -x -f 'sleep 7001'").split()
    assert len(escaped) == 1
    assert f" {escaped[0]} " in held.says(AS_ROOT, f"{script} status | grep ^pids= | tr = ' '")
    held.says(AS_ROOT, f"{script} stop {fence} 2")
    assert held.says(AS_ROOT, "pgrep -x -f 'sleep 700[12]'") == ""
    assert held.says(AS_ROOT, "systemctl is-failed relight-bare") != "failed\n"
