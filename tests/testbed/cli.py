"""The testbed by hand: `python tests/testbed/cli.py up 2`, `... reboot 1`, `... down`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

if not __package__:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.testbed.bed import Testbed
from tests.testbed.node import Bind
from tests.testbed.record import records
from tests.testbed.tools import CannotRunError, require, say

ON_ONE: dict[str, tuple[str, Callable[[Testbed, int], None]]] = {
    "reboot": ("reboot host N in order", Testbed.reboot),
    "power-cut": ("end host N at once; it stays off", Testbed.power_cut),
    "power-off": ("shut host N down in order", Testbed.power_off),
    "power-on": ("boot host N", Testbed.power_on),
    "cut": ("pull the network plug of host N", Testbed.cut),
    "silence": ("let the packets of host N vanish", Testbed.silence),
    "heal": ("undo cut and silence of host N", Testbed.heal),
}


def folders(text: str) -> tuple[str, str]:
    """Read SOURCE:TARGET, both absolute; raise ArgumentTypeError for anything else."""
    source, colon, target = text.partition(":")
    if not (colon and source.startswith("/") and target.startswith("/")):
        raise argparse.ArgumentTypeError(f"{text!r} is not /SOURCE:/TARGET")
    return source, target


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    whole = argparse.ArgumentParser(description="Real systemd hosts on this machine, for tests.")
    whole.add_argument("--name", default="default", help="which testbed (several can be up)")
    commands = whole.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="make and boot hosts until there are COUNT")
    up.add_argument("count", type=int, choices=range(1, 100), metavar="COUNT")
    up.add_argument("--bind-ro", type=folders, action="append", default=[], metavar="/SRC:/DST")
    up.add_argument("--bind", type=folders, action="append", default=[], metavar="/SRC:/DST")
    down = commands.add_parser("down", help="remove the hosts and their network")
    down.add_argument("--all", action="store_true", help="of every testbed")
    commands.add_parser("status", help="show the hosts")
    for command, (text, _) in ON_ONE.items():
        commands.add_parser(command, help=text).add_argument("number", type=int, metavar="N")
    return whole


def show(bed: Testbed) -> None:
    """Print a line for each host, and how to reach them."""
    for host in bed.status():
        answer = "answers" if host.answers else "does not answer"
        sys.stdout.write(f"{host.name}  {host.address}  {host.power}  {host.link}  {answer}\n")
    sys.stdout.write(f"ssh -F {bed.access.config} node1    # or root@node1\n")


def act(chosen: argparse.Namespace) -> None:
    """Do what the command line asks; raise CannotRunError when it cannot be done."""
    require()
    if chosen.command == "up":
        bed = Testbed.open(chosen.name)
        binds = [Bind(source, target) for source, target in chosen.bind_ro]
        binds += [Bind(source, target, writable=True) for source, target in chosen.bind]
        bed.up(chosen.count, binds)
        show(bed)
        return
    if chosen.command == "down":
        names = [record.name for record in records()] if chosen.all else [chosen.name]
        for name in names:
            if (found := Testbed.find(name)) is not None:
                found.down()
        return
    existing = Testbed.find(chosen.name)
    if existing is None:
        raise CannotRunError(f"no testbed {chosen.name!r} is up; bring one up with: up 1")
    if chosen.command == "status":
        show(existing)
    else:
        ON_ONE[chosen.command][1](existing, chosen.number)


def main(arguments: Sequence[str]) -> int:
    """Return 0, or 1 when it cannot be done."""
    try:
        act(parser().parse_args(arguments))
    except (CannotRunError, TimeoutError) as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
