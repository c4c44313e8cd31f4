"""A testbed: several real systemd hosts on this machine, and all that can happen to them."""

import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Self

from tests.deadline import until
from tests.made_once import alone, cache
from tests.testbed.access import Access
from tests.testbed.base_image import USER, base_image
from tests.testbed.control_groups import ControlGroup
from tests.testbed.network import Link, Network, free_slot
from tests.testbed.node import POWER_OFF, REBOOT, Bind, Node, Power
from tests.testbed.process import Process
from tests.testbed.record import Record, records
from tests.testbed.tools import CannotRunError, require, say

# A boot takes 2 s on free cores; this is for a machine that compiles and serves at the same time.
BOOT_SECONDS = 90
POWER_OFF_SECONDS = 60


@dataclass(frozen=True)
class Status:
    """What one host is doing, as seen from this machine."""

    name: str
    address: str
    power: Power
    link: Link
    answers: bool


class Testbed:
    """The hosts of one name. Several testbeds can be up at once, each with a network of its own.

    Every act is recorded before it is done, and doing it twice is like doing it once.
    """

    __test__ = False  # no class of tests, whatever pytest thinks of its name

    def __init__(self, record: Record) -> None:
        self._record = record
        self.network = Network(record.slot)
        self.access = Access(record.folder)

    @classmethod
    def open(cls, name: str = "default", owner: Process | None = None) -> Self:
        """Return the testbed of this name, a new one without hosts when there is none.

        Testbeds whose owner is gone are brought down first. Raises CannotRunError.
        """
        require()
        with cls._alone():
            for record in records():
                if record.orphaned:
                    say(f"bringing down {record.name}, whose owner is gone")
                    cls(record)._remove()
            slots = {record.slot for record in records()}
            record = Record.read(name) or Record(name, free_slot(slots), owner=owner)
            record.write()
            bed = cls(record)
            bed.network.up()
            bed.access.make()
        return bed

    @classmethod
    def find(cls, name: str = "default") -> Self | None:
        """Return the testbed of this name when there is one."""
        record = Record.read(name)
        return None if record is None else cls(record)

    @staticmethod
    def _alone() -> AbstractContextManager[None]:
        return alone(cache() / "testbed.lock")

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of its hosts, from 1."""
        return self._record.nodes

    def node(self, number: int) -> Node:
        """Return a host; raise CannotRunError when there is none with this number."""
        if number not in self.numbers:
            have = ", ".join(map(str, self.numbers)) or "none"
            raise CannotRunError(
                f"no host {number} in testbed {self._record.name} (there are: {have})"
            )
        return self._any_node(number)

    def _any_node(self, number: int) -> Node:
        name = f"relight-testbed-{self._record.slot}-{number}"
        folder = self._record.folder / f"node{number}"
        return Node(number, folder, self.network, ControlGroup(name))

    def up(self, count: int, binds: Sequence[Bind] = ()) -> None:
        """Make hosts until there are `count`, boot those that are off, return when all answer.

        `binds` replace the earlier ones, and a host sees them from its next boot on.
        """
        base = base_image()
        numbers = tuple(range(1, max((count, *self.numbers)) + 1))
        new = [number for number in numbers if number not in self.numbers]
        self._record = replace(
            self._record, nodes=numbers, binds=tuple(binds) or self._record.binds
        )
        self._record.write()
        self.access.write({number: self.network.address(number) for number in numbers})
        for number in numbers:
            node = self.node(number)
            node.mount(base)
            if number in new:
                node.settle_in(self.access)
            node.power_on(self._record.binds)
        for number in numbers:
            self.wait(number)

    def ssh(
        self, number: int, command: str, *, user: str = USER, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell command on a host; its exit code is 255 when ssh itself fails.

        Raises subprocess.TimeoutExpired after `timeout` seconds.
        """
        where = ("ssh", "-F", self.access.config, f"{user}@{self.node(number).name}")
        return subprocess.run(
            (*where, command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def answers(self, number: int) -> bool:
        """Return whether the ordinary user can log in within 3 s."""
        try:
            return self.ssh(number, "true", timeout=3).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def wait(self, number: int) -> None:
        """Return when a host lets the ordinary user log in.

        Raises CannotRunError with the end of its console when it does not within 90 s.
        """
        node = self.node(number)
        try:
            until(
                lambda: self.answers(number), BOOT_SECONDS, f"an answer of {node.name}", every=0.2
            )
        except TimeoutError as error:
            console = node.console.read_text(errors="replace").splitlines()[-20:]
            raise CannotRunError("\n".join((str(error), *console))) from error

    def reboot(self, number: int) -> None:
        """Reboot a host in order, return when it answers again; its link is up then."""
        node = self.node(number)
        before = node.boot()
        if before is None:
            raise CannotRunError(f"{node.name} is not on")
        node.ask(REBOOT)
        until(lambda: node.boot() not in {before, None}, BOOT_SECONDS, f"a new boot of {node.name}")
        self.wait(number)

    def power_off(self, number: int) -> None:
        """Shut a host down in order, return when it is off."""
        node = self.node(number)
        node.ask(POWER_OFF)
        until(lambda: node.power() == "off", POWER_OFF_SECONDS, f"the power-off of {node.name}")

    def power_cut(self, number: int) -> None:
        """End all processes of a host at one moment; it stays off."""
        self.node(number).power_cut()

    def power_on(self, number: int, *, wait: bool = True) -> None:
        """Boot a host that is off, return when it answers, or at once without `wait`."""
        self.node(number).power_on(self._record.binds)
        if wait:
            self.wait(number)

    def cut(self, number: int) -> None:
        """Pull a host's network plug: it has no carrier, and nobody gets an answer of it."""
        self.network.cut(self.node(number).number)

    def silence(self, number: int) -> None:
        """Let a host's IP packets vanish in both directions; also over its reboots."""
        self.network.silence(self.node(number).number)

    def heal(self, number: int) -> None:
        """Undo `cut` and `silence`."""
        self.network.heal(self.node(number).number)

    def status(self) -> list[Status]:
        """Return what each host is doing."""
        nodes = [self.node(number) for number in self.numbers]
        return [
            Status(
                node.name,
                node.address,
                node.power(),
                self.network.link(node.number),
                self.answers(node.number),
            )
            for node in nodes
        ]

    def down(self) -> None:
        """Remove all hosts, the network and the testbed's folder, whatever state they are in."""
        with self._alone():
            self._remove()

    def _remove(self) -> None:
        # From the disk: another process may have added hosts since.
        self._record = Record.read(self._record.name) or self._record
        for number in self.numbers:
            self._any_node(number).remove()
        self.network.down()
        self._record.forget()
