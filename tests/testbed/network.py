"""The network of a testbed: a bridge with its own addresses, and the ways in which it fails.

The hosts reach this machine and each other, and nothing else: no route leads out of the bridge.
"""

import ipaddress
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tests.testbed.tools import CannotRunError, run

ADDRESSES: Final = ipaddress.ip_network("10.213.0.0/16")
SLOTS: Final = range(1, 100)
LINKS: Final = Path("/sys/class/net")

# IP alone is dropped, ARP is answered: the peer stays known and simply says nothing any more, where
# a peer that ARP cannot find ends, in the long run, in "no route to host".
SILENCE: Final = """\
table bridge {table} {{
  set silent {{ type ifname; }}
  chain input {{ type filter hook input priority 0; ether type ip iifname @silent drop; }}
  chain output {{ type filter hook output priority 0; ether type ip oifname @silent drop; }}
  chain forward {{
    type filter hook forward priority 0
    ether type ip iifname @silent drop
    ether type ip oifname @silent drop
  }}
}}
"""

Link = Literal["up", "cut", "silent", "absent"]


def routes() -> list[ipaddress.IPv4Network]:
    """Return the networks that this machine has routes to, the default route left out."""
    shown: list[dict[str, str]] = json.loads(run("ip", "-4", "-json", "route", "show").stdout)
    return [ipaddress.IPv4Network(entry["dst"]) for entry in shown if entry.get("dst") != "default"]


def free_slot(used: Collection[int]) -> int:
    """Return a slot not `used`, whose bridge does not exist and whose addresses nobody routes.

    Raises CannotRunError when there is none.
    """
    taken = routes()
    for slot in SLOTS:
        network = Network(slot)
        free = slot not in used and not network.exists()
        if free and not any(network.subnet.overlaps(other) for other in taken):
            return slot
    raise CannotRunError(f"no free /24 is left in {ADDRESSES}; bring a testbed down")


@dataclass(frozen=True)
class Network:
    """The bridge of one testbed; the slot, 1 to 99, gives it its name and its addresses."""

    slot: int

    @property
    def bridge(self) -> str:
        """Return the name of the bridge's interface, and of its nftables table."""
        return f"relight{self.slot}"

    @property
    def subnet(self) -> ipaddress.IPv4Network:
        """Return its /24."""
        return ipaddress.IPv4Network((int(ADDRESSES.network_address) + (self.slot << 8), 24))

    @property
    def own_address(self) -> str:
        """Return the address of this machine on the bridge."""
        return str(self.subnet[254])

    def address(self, number: int) -> str:
        """Return the address of a host by its number, 1 to 99."""
        return str(self.subnet[number])

    def machine(self, number: int) -> str:
        """Return the name under which nspawn runs a host: short, an interface is named for it."""
        return f"rl{self.slot}-{number}"

    def plug(self, number: int) -> str:
        """Return the name of a host's interface on this machine, the port on the bridge."""
        return f"vb-{self.machine(number)}"

    def exists(self) -> bool:
        """Return whether the bridge is there."""
        return (LINKS / self.bridge).exists()

    def up(self) -> None:
        """Make the bridge and the rules that `silence` fills, where they are not there yet."""
        if not self.exists():
            run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "address", "replace", f"{self.own_address}/24", "dev", self.bridge)
        run("ip", "link", "set", self.bridge, "up")
        if not self.has_rules():
            run("nft", "-f", "-", given=SILENCE.format(table=self.bridge))

    def down(self) -> None:
        """Remove the rules and the bridge, where they are still there."""
        if self.has_rules():
            run("nft", "delete", "table", "bridge", self.bridge)
        if self.exists():
            run("ip", "link", "delete", self.bridge)

    def has_rules(self) -> bool:
        """Return whether the nftables table is there."""
        listed = run("nft", "list", "tables", "bridge").stdout.splitlines()
        return f"table bridge {self.bridge}" in listed

    def cut(self, number: int) -> None:
        """Pull the plug of a host: it loses its carrier, and nobody finds it any more.

        A reboot plugs it in again.
        """
        run("ip", "link", "set", self.plug(number), "down")

    def silence(self, number: int) -> None:
        """Drop every IP packet from and to a host, without a word to either side, until `heal`."""
        element = f'{{ "{self.plug(number)}" }}'
        run("nft", "add", "element", "bridge", self.bridge, "silent", element)

    def heal(self, number: int) -> None:
        """Undo `cut` and `silence` of a host."""
        if self.silenced(number):
            element = f'{{ "{self.plug(number)}" }}'
            run("nft", "delete", "element", "bridge", self.bridge, "silent", element)
        if (LINKS / self.plug(number)).exists():
            run("ip", "link", "set", self.plug(number), "up")

    def silenced(self, number: int) -> bool:
        """Return whether `silence` holds for a host."""
        listed = run("nft", "list", "set", "bridge", self.bridge, "silent", accept=(0, 1)).stdout
        return f'"{self.plug(number)}"' in listed

    def link(self, number: int) -> Link:
        """Return the state of a host's link; absent while it is powered off."""
        plug = LINKS / self.plug(number)
        if not plug.exists():
            return "absent"
        if self.silenced(number):
            return "silent"
        is_up = int((plug / "flags").read_text(encoding="ascii"), 16) & 1
        return "up" if is_up else "cut"
