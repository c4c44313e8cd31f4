"""What a task costs: ansible-core, pyinfra, Fabric's run() and relight's `play`, side by side.

`python benchmarks/playbook_tasks.py` starts sshds of its own on loopback and measures, there and
through relays with a round trip of 50 ms: an extra task (1 against 100 trivial ones on one host),
10 tasks on 10 hosts, and a template that is unchanged or changed. Every case is a whole process
from a cold start; cases take turns. `--part` and `--place` measure less; docs/speed.md explains.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

# A script sees its own folder only: the root holds relight and the tests' sshd.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.side_by_side import tools
from benchmarks.side_by_side.counted import round_trips
from benchmarks.side_by_side.hosts import Bench, Hosts, bench
from benchmarks.side_by_side.timing import Case, in_turn, ratio, table

TASKS = Path(__file__).resolve().parent / "tasks"
PIPELINING, DEFAULT = "ansible-core, pipelining", "ansible-core, default"
PYINFRA, FABRIC = "pyinfra", "Fabric run()"
RELIGHT, STEP = "relight, a user's command", "relight, a control step"

Tool = Callable[[Hosts, int], object]


def trivial_tools() -> dict[str, Tool]:
    """Return how each tool does so many trivial tasks on every host."""

    def playbook(kind: str, count: int) -> Path:
        return TASKS / f"{kind}_{count}.yml"

    def ansible(hosts: Hosts, count: int, *, pipelining: bool) -> None:
        ended = tools.ansible(hosts, playbook("commands", count), pipelining=pipelining)
        _all_ok(ended, count)

    def pyinfra(hosts: Hosts, count: int) -> None:
        tools.pyinfra(hosts, TASKS / "pyinfra_commands.py", COUNT=str(count))

    def fabric(hosts: Hosts, count: int) -> None:
        tools.fabric(hosts, TASKS / "fabric_commands.py", COUNT=str(count))

    def relight(hosts: Hosts, count: int, *, kind: str) -> None:
        _all_ok(tools.relight(hosts, "play", "--playbook", str(playbook(kind, count))), count)

    return {
        DEFAULT: functools.partial(ansible, pipelining=False),
        PIPELINING: functools.partial(ansible, pipelining=True),
        PYINFRA: pyinfra,
        FABRIC: fabric,
        RELIGHT: functools.partial(relight, kind="commands"),
        STEP: functools.partial(relight, kind="steps"),
    }


def _all_ok(ended: tools.Started, count: int) -> None:
    if f"ok={count} " not in ended.out.replace("  ", " "):
        raise RuntimeError(f"not every task was done:\n{ended.out}")


def starts(playbook: Path) -> dict[str, Callable[[Hosts], object]]:
    """Return how each tool starts and sends nothing: what it takes before the first packet."""
    listing = str(playbook)
    return {
        DEFAULT: lambda hosts: tools.ansible(hosts, playbook, "--list-tasks", pipelining=False),
        PIPELINING: lambda hosts: tools.ansible(hosts, playbook, "--list-tasks", pipelining=True),
        PYINFRA: tools.pyinfra_start,
        FABRIC: tools.fabric_start,
        RELIGHT: lambda hosts: tools.relight(hosts, "play", "--playbook", listing, "--list-tasks"),
    }


def extra_task(hosts: Hosts, rounds: int) -> None:
    """Measure 1 and many trivial tasks on one host."""
    pairs: list[tuple[str, int, Case, Case]] = []
    for name, act in trivial_tools().items():
        # A hundred of Ansible's at 50 ms are minutes, and the slope of ten is the same.
        many = 10 if hosts.rtt and name in (DEFAULT, PIPELINING) else 100
        one = Case(name, "1 task", functools.partial(act, hosts, 1))
        more = Case(name, f"{many} tasks", functools.partial(act, hosts, many))
        pairs.append((name, many, one, more))
    in_turn([case for _, _, one, more in pairs for case in (one, more)], rounds)
    cost = {name: (more.median - one.median) / (many - 1) for name, many, one, more in pairs}
    least = {name: (more.least - one.least) / (many - 1) for name, many, one, more in pairs}
    counted = {
        name: (_counted(hosts, kind, 100) - _counted(hosts, kind, 1)) / 99
        for name, kind in ((RELIGHT, "commands"), (STEP, "steps"))
    }
    table(
        f"An extra task on one host, {place(hosts)}, {rounds} rounds",
        (
            "tool", "s, 1 task: median [min]", "s, many", "many",
            "ms per extra task: of medians [of minima]",
            "of Ansible with pipelining", "of Fabric run()", "round trips counted",
        ),
        [
            (
                name, one.shown, more.shown, str(many),
                f"{cost[name] * 1000:.1f} [{least[name] * 1000:.1f}]",
                ratio(cost[name], cost[PIPELINING]), ratio(cost[name], cost[FABRIC]),
                f"{counted[name]:.2f}" if name in counted else "",
            )
            for name, many, one, more in pairs
        ],
    )  # fmt: skip
    if hosts.rtt:
        for name in (RELIGHT, STEP):
            spent = cost[name] / hosts.rtt
            print(f"\n{name}: an extra task takes the time of {spent:.2f} round trips.")


def _counted(hosts: Hosts, kind: str, count: int) -> int:
    return round_trips(hosts, TASKS / f"{kind}_{count}.yml")


def many_hosts(hosts: Hosts, rounds: int) -> None:
    """Measure 10 trivial tasks on each of 10 hosts."""
    begin = starts(TASKS / "commands_10.yml")
    acts = trivial_tools()
    started = {name: Case(name, "start", functools.partial(begin[name], hosts)) for name in begin}
    whole = {
        name: Case(name, "10 x 10", functools.partial(acts[name], hosts, 10)) for name in begin
    }
    in_turn([case for name in begin for case in (started[name], whole[name])], rounds)
    _with_starts(f"10 tasks on 10 hosts, {place(hosts)}, {rounds} rounds", started, whole)


def templates(hosts: Hosts, rounds: int, shared: Path) -> None:
    """Measure a template that changes its file, and then finds it as it should be."""
    playbook = TASKS / "template.yml"
    begin = starts(playbook)
    versions = {name: itertools.count() for name in begin}
    current = dict.fromkeys(begin, 0)
    where = {name: str(shared / f"{number}.conf") for number, name in enumerate(begin)}

    def put(name: str, *, change: bool) -> None:
        if change:
            current[name] = next(versions[name])
        given = {"DEST": where[name], "VERSION": str(current[name])}
        extra = f'{{"dest": "{where[name]}", "version": "{current[name]}", "owner": "host0"}}'
        if name in (DEFAULT, PIPELINING):
            ended = tools.ansible(hosts, playbook, "-e", extra, pipelining=name == PIPELINING)
        elif name == PYINFRA:
            ended = tools.pyinfra(hosts, TASKS / "pyinfra_template.py", **given)
        elif name == FABRIC:
            ended = tools.fabric(hosts, TASKS / "fabric_template.py", **given)
        else:
            ended = tools.relight(hosts, "play", "--playbook", str(playbook), "-e", extra)
        done = "changed=1" if change else "changed=0"
        if name not in (PYINFRA, FABRIC) and done not in ended.out:
            raise RuntimeError(f"not {done}:\n{ended.out}")

    for name in begin:
        put(name, change=True)
    started = {name: Case(name, "start", functools.partial(begin[name], hosts)) for name in begin}
    kinds = {
        "changed": {n: Case(n, "changed", functools.partial(put, n, change=True)) for n in begin},
        "unchanged": {
            n: Case(n, "unchanged", functools.partial(put, n, change=False)) for n in begin
        },
    }
    in_turn(
        [case for n in begin for case in (started[n], *(kind[n] for kind in kinds.values()))],
        rounds,
    )
    for what, cases in kinds.items():
        title = f"One template of 4 KiB, {what}, {place(hosts)}, {rounds} rounds"
        _with_starts(title, started, cases)


def _with_starts(title: str, started: dict[str, Case], whole: dict[str, Case]) -> None:
    after = {name: whole[name].median - started[name].median for name in whole}
    columns = ["tool", "s, whole process: median [min]", "s, start-up", "s, without start-up"]
    columns.append("relight takes, of this: whole (without start-up)")
    rows = []
    for name, case in whole.items():
        against = ""
        if name != RELIGHT:
            all_of_it = ratio(whole[RELIGHT].median, case.median)
            against = f"{all_of_it} ({ratio(after[RELIGHT], after[name])})"
        rows.append((name, case.shown, started[name].shown, f"{after[name]:.2f}", against))
    table(title, columns, rows)


def place(hosts: Hosts) -> str:
    """Return where the hosts are, for a title."""
    return "50 ms RTT" if hosts.rtt else "loopback"


def main() -> None:
    """Measure what was asked for, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("extra", "hosts", "template")
    parser.add_argument("--part", choices=parts, action="append", help="default: all three")
    parser.add_argument("--place", choices=("near", "far"), action="append", help="default: both")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    with bench(10) as made:
        for where in chosen.place or ("near", "far"):
            for part in chosen.part or parts:
                _measure(made, where, part, chosen.rounds)


def _measure(made: Bench, where: str, part: str, rounds: int) -> None:
    open_hosts = made.far if where == "far" else made.near
    with open_hosts(10 if part == "hosts" else 1) as hosts:
        if part == "extra":
            extra_task(hosts, rounds)
        elif part == "hosts":
            many_hosts(hosts, rounds)
        else:
            templates(hosts, rounds, made.shared)


if __name__ == "__main__":
    main()
