"""The lock of a service: one holder, a lease that goes with it, a fence against late writers."""

from __future__ import annotations

import os
import signal
import time

from tests.deadline import until
from tests.host.served import Served


def test_second_holder_is_told_who_holds_it(served: Served) -> None:
    """A held lock is refused with its holder's own words."""
    served.lock(who="anna")
    refused = served.call("lock", 60, '{"who":"bert"}')
    assert refused.returncode == 76
    assert '"who":"anna"' in refused.stdout
    assert served.observed().locked
    assert "anna" in served.observed().holder


def test_unlocked_is_free_at_once(served: Served) -> None:
    """A lock that was given back can be taken in the same moment, under the next fence."""
    first = served.lock()
    served.do("unlock")
    assert not served.observed().locked
    assert served.lock() == first + 1


def test_lease_runs_out(served: Served) -> None:
    """A controller that is not heard of for its lease loses the lock, and can write no more."""
    fence = served.lock(lease=1)
    until(lambda: "lease_expired" in served.events(), 20, "the end of the lease")
    assert not served.observed().locked
    late = served.call("record", fence, "late")
    assert late.returncode == 75
    assert "ran out" in late.stderr
    assert served.lock() == fence + 1


def test_renewed_lease_lives(served: Served) -> None:
    """A lease that is renewed does not run out, however long it is."""
    served.lock(lease=2)
    ends = time.monotonic() + 5
    while time.monotonic() < ends:
        served.do("renew")
        time.sleep(0.2)
    assert served.observed().locked
    assert "lease_expired" not in served.events()


def test_heartbeat_does_not_wait_for_a_step(served: Served) -> None:
    """A lease is renewed beside a long stop, which holds every other step back."""
    served.lock()
    served.start("0001-a-0", "trap '' TERM; echo up; while :; do sleep 0.1; done")
    until(lambda: "up" in served.log(), 20, "an engine")
    stop = served.begin("stop", served.fence, 4)
    until(lambda: "stopping" in served.events(), 20, "a stop under way")
    served.do("renew")
    assert stop.poll() is None
    assert stop.wait(30) == 0


def test_late_writer_is_refused_by_its_fence(served: Served) -> None:
    """Whoever comes with the fence of an earlier lock changes nothing, whatever it asks for."""
    old = served.lock()
    served.start("0001-a-0", "exec sleep 600")
    served.do("unlock")
    served.lock()
    pid = served.observed().pid
    for words in (
        ("start", old, "0001-a-0"),
        ("stop", old, 1),
        ("promote", old, "0001-a-0"),
        ("rollback", old, 1, "0001-a-0", "late"),
        ("arm", old, 5),
        ("unlock", old),
        ("prune", old, 0),
    ):
        refused = served.call(*words)
        assert refused.returncode == 75, words
        assert "nothing was changed" in refused.stderr
    observed = served.observed()
    assert (observed.pid, observed.known_good, observed.locked) == (pid, None, True)


def test_dead_holder_frees_the_lock(served: Served) -> None:
    """The lock goes with the process that holds it: nobody has to clean up."""
    fence = served.lock()
    os.kill(int((served.folder / "lock/pid").read_text().split()[0]), signal.SIGKILL)
    until(lambda: not served.observed().locked, 20, "a free lock")
    assert served.lock() == fence + 1


def test_only_one_of_many_wins(served: Served) -> None:
    """Of eight that ask at once one gets the lock, and seven are told so."""
    asking = [served.begin("lock", 60, f'{{"who":"w{number}"}}') for number in range(8)]
    codes = sorted(process.wait(60) for process in asking)
    assert codes == [0] + [76] * 7
    assert served.events().count("locked") == 1


def test_launcher_cannot_change_under_a_server(served: Served) -> None:
    """A service that another launcher started is refused before anything is touched."""
    (served.folder / "launcher").write_text("systemd\n")
    refused = served.call("lock", 60, "{}")
    assert refused.returncode == 72
    assert "launcher systemd, not process" in refused.stderr
