"""What can happen in the middle of a deploy, at a moment that the ledger names or chance picks."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.deadline import until
from tests.host.field import Field, Site
from tests.host.prober import Prober, probing

TRANSITIONS = ("locked", "stopping", "stopped", "started", "ready", "benchmarked", "promoted")
"""The events of a deploy that replaces a running server, in their order."""

Controller = subprocess.Popen[str]
Act = Callable[[Field, Site, Controller], None]


def kill(_: Field, __: Site, controller: Controller) -> None:
    """End the controller as the machine's memory killer would."""
    _signal(controller, signal.SIGKILL)


def terminate(_: Field, __: Site, controller: Controller) -> None:
    """Ask the controller to end, as a shutdown of its machine does."""
    _signal(controller, signal.SIGTERM)


def interrupt(_: Field, __: Site, controller: Controller) -> None:
    """Press Ctrl-C once."""
    _signal(controller, signal.SIGINT)


def _signal(controller: Controller, number: int) -> None:
    """Send a signal; a controller that has ended already had nothing to lose."""
    controller.send_signal(number)


def drop(held: Field, site: Site, _: Controller) -> None:
    """Cut the SSH connections of the deploying user, all at once."""
    held.bed.ssh(site.number, f"pkill -KILL -f 'sshd: {site.user}(@|$)'", user="root")


def cut(held: Field, site: Site, controller: Controller) -> None:
    """Pull the host's network plug until the lease is over and the controller has given up."""
    held.bed.cut(site.number)
    _apart(held, site, controller)


def silence(held: Field, site: Site, controller: Controller) -> None:
    """Let the host's packets vanish until the lease is over and the controller has given up."""
    held.bed.silence(site.number)
    _apart(held, site, controller)


def _apart(held: Field, site: Site, controller: Controller) -> None:
    try:
        time.sleep(held.lease + 1)
        controller.wait(120)
    finally:
        held.bed.heal(site.number)
        held.bed.wait(site.number)


def engine(held: Field, site: Site, _: Controller) -> None:
    """Kill the server's main process from outside."""
    main = held.file(site, "last-launch").read_text().strip()
    pid = held.file(site, f"launches/{main}/pid")
    until(pid.exists, 20, "the engine's process", every=0.01)
    words = pid.read_text().split()
    held.bed.ssh(site.number, f"kill -KILL {words[0]}", user="root")


def power(held: Field, site: Site, _: Controller) -> None:
    """Cut the host's power, and switch it on again."""
    held.bed.power_cut(site.number)
    held.bed.power_on(site.number)


def reboot(held: Field, site: Site, _: Controller) -> None:
    """Reboot the host in order."""
    held.bed.reboot(site.number)


@dataclass(frozen=True)
class Came:
    """What one harm came to."""

    site: str
    what: str
    moment: str
    code: int
    darkness: float
    events: tuple[str, ...]
    said: str


def harm(held: Field, site: Site, act: Act, moment: str, *, change: int) -> Came:
    """Deploy a change, do harm at a moment, and return once the host serves a known-good again.

    `moment` is an event of the ledger, and seconds after it: `started`, `started+0.5`. Raises
    AssertionError where the host does not come back, runs more than one server, leaves a step
    behind or tears its ledger.
    """
    before = held.ledger(site)
    good = held.observed(site).known_good
    with probing(held, site) as prober:
        controller = held.start(
            *("deploy", "--host", site.name, "--service", "main"),
            *("--set", f"max-running-requests={change}"),
        )
        try:
            _await(held, site, controller, moment, len(before.entries))
            act(held, site, controller)
            controller.wait(180)
        finally:
            if controller.poll() is None:
                controller.kill()
        said, _ = controller.communicate()
        _back(held, site, prober)
    after = held.ledger(site)
    news = tuple(entry.event for entry in after.entries[len(before.entries) :])
    told = f"{site.name}, {act.__name__} at {moment}: {news}\n{said[-2000:]}"
    assert after.unreadable == before.unreadable, told
    observed = held.observed(site)
    if good is not None and observed.known_good != good:
        assert "promoted" in news, told
    assert held.engines(site).count(observed.pid or 0) == 1, told
    assert len(held.engines(site)) == len(site.services), told
    until(lambda: not held.strays(site), 20, f"no stray step: {held.strays(site)}; {told}")
    return Came(site.name, act.__name__, moment, controller.returncode, prober.longest, news, said)


def _await(held: Field, site: Site, controller: Controller, moment: str, seen: int) -> None:
    event, _, later = moment.partition("+")

    def written() -> bool:
        return event in held.events(site)[seen:] or controller.poll() is not None

    until(written, 120, f"{event} in the ledger", every=0.01)
    time.sleep(float(later or 0))


def _back(held: Field, site: Site, prober: Prober) -> None:
    """Return once the host serves a known-good; a host without systemd needs the next command."""
    if held.observed(site).state == "rebooted":
        code, said = held.run("restart", "--host", site.name, "--service", "main")
        assert code == 0, said
    held.settled(site)
    until(prober_lit(prober), 30, "an answer to the prober")


def prober_lit(prober: Prober) -> Callable[[], bool]:
    """Return a condition: the prober's last question was answered."""
    return lambda: prober.answers > 0 and prober.dark_since is None


def some_moment(dice: random.Random) -> str:
    """Return a moment between the lock and the end of a deploy, written EVENT+SECONDS."""
    return f"{dice.choice(TRANSITIONS)}+{dice.uniform(0.0, 2.0):.2f}"
