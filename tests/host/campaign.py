r"""Harm in numbers: kills, power cuts, network cuts and silence, and what it came to.

    python tests/host/campaign.py --kills 100 --power-cuts 20 --network-cuts 20 --silent 10 \
        --rivals 10

boots two hosts (one with the launcher systemd, one with process), keeps both serving through all of
it, and prints a table; the exit code is 1 when a single host did not come back as it must.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

if not __package__:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.host.field import LEASE, Field, Site
from tests.host.harm import (
    TRANSITIONS,
    Act,
    Came,
    cut,
    harm,
    kill,
    power,
    silence,
    some_moment,
)
from tests.host.rivals import rivals
from tests.testbed.bed import Testbed
from tests.testbed.process import Process

Plan = tuple[Act, str]


@dataclass
class Tally:
    """What came of all harm, filled by one thread for each host."""

    came: list[Came] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, came: Came) -> None:
        """Keep a good end, and say so."""
        with self.lock:
            self.came.append(came)
            line = f"{len(self.came):4d}  {came.site}  {came.what} at {came.moment}"
            sys.stdout.write(f"{line}  exit {came.code}  dark {came.darkness:.1f} s\n")
            sys.stdout.flush()

    def fail(self, what: str) -> None:
        """Keep a bad end, and say so."""
        with self.lock:
            self.broken.append(what)
            sys.stdout.write(f"BROKEN  {what}\n")
            sys.stdout.flush()


def plans(chosen: argparse.Namespace, dice: random.Random) -> list[Plan]:
    """Return all harm in a random order: kills at every transition first, the rest by chance."""
    found: list[Plan] = [
        (kill, TRANSITIONS[n] if n < len(TRANSITIONS) else some_moment(dice))
        for n in range(chosen.kills)
    ]
    for act, count in (
        (power, chosen.power_cuts),
        (cut, chosen.network_cuts),
        (silence, chosen.silent),
    ):
        found += [(act, some_moment(dice)) for _ in range(count)]
    dice.shuffle(found)
    return found


def wear(
    held: Field, site: Site, todo: Iterator[tuple[int, Plan]], tally: Tally, ends: float
) -> None:
    """Do harm to one host until nothing is left to do or the time is over."""
    lock = tally.lock
    while time.monotonic() < ends:
        with lock:
            found = next(todo, None)
        if found is None:
            return
        number, plan = found
        try:
            tally.add(harm(held, site, *plan, change=100 + number))
        except (AssertionError, TimeoutError) as error:
            tally.fail(f"{site.name}: {plan[0].__name__} at {plan[1]}: {error}")
            held.run("deploy", "--host", site.name, "--wait", "60")


def compete(held: Field, site: Site, change: int, tally: Tally) -> None:
    """Let two controllers deploy to one host at once; every other pair of rounds with --wait."""
    wait = 120 if change // 4 % 2 else None
    try:
        came = rivals(held, site, change=change, wait=wait)
    except (AssertionError, TimeoutError) as error:
        tally.fail(f"{site.name}: two controllers: {error}")
        return
    what = "two controllers" if wait is None else "two controllers, --wait"
    moment = f"once, exits {came.codes}"
    tally.add(Came(site.name, what, moment, came.codes[-1], came.darkness, (), ""))


def table(tally: Tally) -> str:
    """Return a line for each kind of harm and launcher: how often, and the longest darkness."""
    lines = ["| harm | host | times | longest darkness | mean |", "|---|---|---|---|---|"]
    for key in sorted({(came.what, came.site) for came in tally.came}):
        dark = [came.darkness for came in tally.came if (came.what, came.site) == key]
        mean = sum(dark) / len(dark)
        lines.append(f"| {key[0]} | {key[1]} | {len(dark)} | {max(dark):.1f} s | {mean:.1f} s |")
    return "\n".join([*lines, f"lease {LEASE} s; not as it must be: {len(tally.broken)}"])


def main(arguments: Sequence[str]) -> int:
    """Return 0 when every host came back from everything."""
    words = argparse.ArgumentParser(description="Harm to deploys on real hosts, in numbers.")
    for option in ("kills", "power-cuts", "network-cuts", "silent", "rivals"):
        words.add_argument(f"--{option}", type=int, default=0)
    words.add_argument("--minutes", type=float, default=120.0)
    words.add_argument("--seed", type=int, default=1)
    chosen = words.parse_args(arguments)
    dice = random.Random(chosen.seed)
    bed = Testbed.open(f"campaign-{os.getpid()}", owner=Process.of(os.getpid()))
    tally = Tally()
    try:
        bed.up(2)
        sites = (
            Site(1, "root", "systemd", {"main": 30001}),
            Site(2, "relight", "process", {"main": 30002}),
        )
        with tempfile.TemporaryDirectory() as folder:
            held = Field(Path(folder), bed, sites)
            held.write()
            for site in sites:
                code, said = held.deploy(site)
                if code:
                    raise SystemExit(said)
            todo = iter(enumerate(plans(chosen, dice)))
            ends = time.monotonic() + 60 * chosen.minutes
            with ThreadPoolExecutor(len(sites)) as pool:
                list(pool.map(lambda site: wear(held, site, todo, tally, ends), sites))
            for number in range(chosen.rivals):
                compete(held, sites[number % len(sites)], 1000 + 2 * number, tally)
            held.end()
            sys.stdout.write(table(tally) + "\n")
    finally:
        bed.down()
    return 1 if tally.broken else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
