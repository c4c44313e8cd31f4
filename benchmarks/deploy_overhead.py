"""What a deploy adds to the server's own time: ansible-core, pyinfra and relight, side by side.

`python benchmarks/deploy_overhead.py` deploys, again and again with one flag changed, a server
that is ready 2 s after its start. The same steps are those of relight: facts, the release, a lock,
a dead-man, stop, start, readiness, answers, the ledger, promotion over a new connection. The bare
steps, for the other tools alone, write the release, stop, start, wait and confirm. Each tool has a
service of its own on one sshd, reached over loopback and through a relay with a round trip of
50 ms; each deploy is a whole process. Overhead is its time less that of the same stop and start
without any tool, measured in the same round. docs/speed.md explains; options measure less.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# A script sees its own folder only: the root holds relight and the tests' sshd.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.side_by_side import tools
from benchmarks.side_by_side.hosts import Bench, Hosts, bench
from benchmarks.side_by_side.timing import Case, in_turn, ratio, table
from tests.sshd import free_port

STEPS = Path(__file__).resolve().parent / "deploy"
PYTHON = "/usr/bin/python3"
NOBODY, RELIGHT = "no tool: stop and start alone", "relight deploy"
PIPELINING, DEFAULT, PYINFRA = "ansible-core, pipelining", "ansible-core, default", "pyinfra"
GOALS = {0.0: {PIPELINING: 8, PYINFRA: 2}, 0.05: {PIPELINING: 6, PYINFRA: 3}}
PRESET: dict[str, Any] = {
    "engine": "sglang",
    "model": "bench/tiny",
    "served_name": "tiny",
    "flags": {"context-length": 4096, "max-running-requests": 8},
    "readiness": {"within": "60s", "stall": "30s", "settle": "0s"},
}


@dataclass
class Service:
    """One tool's service: its folder on the host, its port, and a number for each deploy."""

    home: str
    engine: str
    port: int = field(default_factory=free_port)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(8))

    def given(self, *, checks: bool, same: bool = False) -> dict[str, Any]:
        """Return the variables of the next deploy: one flag is another one each time."""
        number = next(self.numbers)
        return {
            "home": self.home,
            "engine": self.engine,
            "python": PYTHON,
            "port": self.port,
            "release": f"{number:04}",
            "requests": number,
            "checks": checks,
            "same": same,
        }


def deploys(
    made: Bench, hosts: Hosts, *, checks: bool, same: bool
) -> dict[str, Callable[[], object]]:
    """Return how each tool deploys; every one of them is a service that runs already."""
    engine = str(made.shared / "engine")
    services = {
        name: Service(str(made.shared / f"{hosts.project.name}{number}"), engine)
        for number, name in enumerate((NOBODY, DEFAULT, PIPELINING, PYINFRA, RELIGHT))
    }
    for name, service in services.items():
        if name != RELIGHT:
            Path(service.home).mkdir(exist_ok=True)
            Path(service.home).chmod(0o777)
    mine = services[RELIGHT]
    hosts.write(
        relight_engine={"python": PYTHON, "env": {"PYTHONPATH": engine}},
        relight_launcher="process",
        relight_home=mine.home,
        relight_services={"main": {"preset": "tiny", "port": mine.port}},
    )
    presets = hosts.inventory.parent / "presets"
    presets.mkdir(exist_ok=True)
    (presets / "tiny.yml").write_text(json.dumps(PRESET))

    def ansible(*, pipelining: bool) -> None:
        service = services[PIPELINING if pipelining else DEFAULT]
        words = ["-e", json.dumps(service.given(checks=checks, same=same))]
        left_out = [*([] if checks else ["checks"]), *([] if same else ["same"])]
        words += ["--skip-tags", ",".join(left_out)] if left_out else []
        tools.ansible(hosts, STEPS / "ansible.yml", *words, pipelining=pipelining)

    def pyinfra() -> None:
        given = json.dumps(services[PYINFRA].given(checks=checks, same=same))
        tools.pyinfra(hosts, STEPS / "pyinfra_deploy.py", GIVEN=given)

    def relight() -> None:
        flag = f"max-running-requests={mine.given(checks=checks)['requests']}"
        words = ["deploy", "--host", "host0", "--set", flag, "--no-benchmark"]
        words += [] if checks else ["--no-preflight"]
        tools.relight(hosts, *words)

    return {
        NOBODY: functools.partial(_alone, made, services[NOBODY]),
        DEFAULT: functools.partial(ansible, pipelining=False),
        PIPELINING: functools.partial(ansible, pipelining=True),
        PYINFRA: pyinfra,
        RELIGHT: relight,
    }


def _alone(made: Bench, service: Service) -> None:
    """Stop and start the server on the host itself, and wait for its ready line."""
    given = service.given(checks=False)
    folder = Path(service.home) / "releases" / given["release"]
    folder.mkdir(parents=True)
    text = (STEPS / "launch.sh.j2").read_text()
    for name, value in given.items():
        text = text.replace(f"{{{{ {name} }}}}", str(value))
    (folder / "launch.sh").write_text(text)
    current = Path(service.home) / "current"
    current.unlink(missing_ok=True)
    current.symlink_to(folder)
    made.as_user((STEPS / "stop.sh").read_text(), service.home)
    made.as_user((STEPS / "start.sh").read_text(), service.home)
    log = Path(service.home) / "server.log"
    until = time.monotonic() + 60
    while not (log.exists() and "ready to roll" in log.read_text()):
        if time.monotonic() > until:
            raise RuntimeError(f"the server did not start:\n{log.read_text()}")
        time.sleep(0.005)


def overhead(made: Bench, where: str, rounds: int, *, checks: bool, same: bool) -> None:
    """Measure deploys over loopback or through the relay, and print what each tool adds."""
    with (made.far if where == "far" else made.near)(1) as hosts:
        acts = deploys(made, hosts, checks=checks, same=same)
        for act in acts.values():
            act()
        cases = [Case(name, "deploy", act) for name, act in acts.items()]
        in_turn(cases, rounds)
        own, added = cases[0], {case.tool: case.median - cases[0].median for case in cases}
        least = {case.tool: case.least - own.least for case in cases}
        goals = GOALS[hosts.rtt]
        place = "50 ms RTT" if hosts.rtt else "loopback"
        kind = "checked by the engine's Python" if checks else "no check by the engine"
        steps = "the same steps" if same else "the others' bare steps"
        table(
            f"A whole deploy, {place}, {steps}, {kind}, {rounds} rounds",
            ("tool", "s: median [min]", "overhead, s: of medians [of minima]",
             "relight takes, of this: of medians [of minima]", "goal"),
            [
                (
                    name, case.shown,
                    f"{added[name]:.2f} [{least[name]:.2f}]" if case is not own else "",
                    f"{ratio(added[RELIGHT], added[name])} [{ratio(least[RELIGHT], least[name])}]"
                    if name not in (RELIGHT, NOBODY) else "",
                    f"1/{goals[name]}" if name in goals else "",
                )
                for case in cases
                for name in (case.tool,)
            ],
        )  # fmt: skip
        made.end_servers()


def main() -> None:
    """Measure what was asked for, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", choices=("near", "far"), action="append", help="default: both")
    parser.add_argument(
        "--checks", choices=("yes", "no"), action="append", help="by the engine; default: both"
    )
    parser.add_argument(
        "--steps", choices=("same", "bare"), action="append", help="of the others; default: both"
    )
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    for program in ("curl", PYTHON):
        if shutil.which(program) is None:
            raise SystemExit(f"{program} is needed on the host")
    with bench(1) as made:
        shutil.copytree(STEPS / "engine", made.shared / "engine")
        subprocess.run(["chmod", "-R", "a+rX", str(made.shared / "engine")], check=True)
        cases = itertools.product(
            chosen.place or ("near", "far"),
            chosen.steps or ("same", "bare"),
            chosen.checks or ("no", "yes"),
        )
        for where, steps, checks in cases:
            overhead(made, where, chosen.rounds, checks=checks == "yes", same=steps == "same")


if __name__ == "__main__":
    main()
