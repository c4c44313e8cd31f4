"""Ring 4, a little of every harm (tests/host/campaign.py does it in numbers), and many at once."""

from __future__ import annotations

import pytest

from tests.host.conftest import AS_ROOT, AS_USER, PLAIN
from tests.host.field import LEASE, Field, Site
from tests.host.harm import Act, drop, engine, harm, kill, power, silence, terminate
from tests.host.rivals import rivals

pytestmark = pytest.mark.testbed
DARK = LEASE + 20
"""Seconds: the lease, the stop, and the start of the known-good on a machine that is busy."""


@pytest.mark.parametrize(
    ("act", "moment", "site"),
    [
        (kill, "locked", PLAIN),
        (kill, "stopping", AS_USER),
        (kill, "stopped", AS_ROOT),
        (kill, "started", PLAIN),
        (kill, "promoted", AS_ROOT),
        (engine, "started", AS_USER),
        (drop, "ready", PLAIN),
        (silence, "stopped", AS_USER),
        (power, "stopped", AS_ROOT),
    ],
    ids=lambda value: getattr(value, "__name__", None) or getattr(value, "name", None) or value,
)
def test_host_is_never_left_dark(held: Field, act: Act, moment: str, site: Site) -> None:
    """Whatever ends a deploy, the host soon serves a known-good: one server, no stray step."""
    came = harm(held, site, act, moment, change=40 + len(held.events(site)))
    assert came.darkness < DARK + (30 if act is power else 0), came
    _, said = held.run("status", "--host", site.name)
    assert "unfinished" not in said
    if "deadman_fired" in came.events and "rolled_back" in came.events:
        assert "dead-man" in " ".join(said.split())


def test_sigterm_rolls_back_before_it_leaves(held: Field) -> None:
    """A controller that is asked to end undoes what it began, and never says 0."""
    came = harm(held, PLAIN, terminate, "started", change=39)
    assert came.code not in (0, 1)
    assert "deadman_fired" not in came.events
    assert came.events[-1] == "unlocked"


def test_two_controllers_at_once(held: Field) -> None:
    """Of two deploys one wins and the other leaves with a clear message; one server remains."""
    assert rivals(held, PLAIN, change=51).codes in ((0, 0), (0, 6))


def test_two_controllers_one_after_the_other(held: Field) -> None:
    """With --wait both have their turn, whoever comes first; one server remains."""
    assert rivals(held, PLAIN, change=61, wait=90).codes == (0, 0)


def test_waiting_controller_gets_its_turn(held: Field) -> None:
    """With --wait the second deploy says for whom it waits, and then deploys."""
    before = held.events(PLAIN).count("promoted")
    script = f"sh {PLAIN.store}/main/host.sh"
    fence = held.says(PLAIN, f"""{script} lock 60 '{{"who":"somebody else"}}'""").strip()
    words = ("deploy", "--host", PLAIN.name, "--service", "main", "--no-benchmark")
    second = held.start(*words, "--set", "max-running-requests=54", "--wait", "90")
    assert second.stdout is not None
    said = ""
    while "waiting:" not in said and (line := second.stdout.readline()):
        said += line
    assert "somebody else" in said
    held.says(PLAIN, f"{script} unlock {fence}")
    more, _ = second.communicate(timeout=180)
    assert second.returncode == 0, said + more
    assert held.events(PLAIN).count("promoted") == before + 1


def test_failing_host_harms_no_other(held: Field) -> None:
    """A host that is cut off costs its own deploy, and its neighbours' nothing."""
    held.bed.cut(2)
    code, said = held.run(
        "deploy", "--host", "all", "--set", "max-running-requests=55", "--no-benchmark"
    )
    held.bed.heal(2)
    assert code == 4, said
    for site, service in ((AS_ROOT, "main"), (PLAIN, "main"), (PLAIN, "second")):
        observed = held.settled(site, service)
        assert observed.release is not None
        assert observed.release.flags["max-running-requests"] == 55
    assert held.settled(AS_USER).release != held.observed(AS_ROOT).release
