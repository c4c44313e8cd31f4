"""The invoke face: relight's commands, and the gate of those who build it."""

import sys
from pathlib import Path
from typing import Any, cast

from invoke.collection import Collection
from invoke.context import Context
from invoke.tasks import Task, task

from relight.commands import namespace
from tests.testbed import tasks as testbed

TOOLS = Path(sys.executable).parent
RINGS = {
    "scenarios": "scenarios",
    "parity": "parity",
    "testbed": "(testbed and not real)",
    "real": "real",
}


@task
def lint(c: Context) -> None:
    """Hold style, types and layers."""
    for command in ("ruff check .", "ruff format --check .", "mypy", "lint-imports"):
        c.run(f"{TOOLS}/{command}", pty=False)


@task(
    help={
        "update": "rewrite the snapshots of rendered scripts",
        "scenarios": "the scenario table, runbooks and playbooks, played in full (6 minutes)",
        "testbed": "ring 4: real systemd hosts on this machine (needs root)",
        "real": "ring 5: SGLang itself on the CPU (downloads about 1 GB once)",
        "parity": "the same playbooks run by ansible-core and by relight",
        "only": "paths or options for pytest",
    }
)
def test(
    c: Context,
    update: bool = False,
    scenarios: bool = False,
    parity: bool = False,
    testbed: bool = False,
    real: bool = False,
    only: str = "",
) -> None:
    """Run rings 1 to 3, or the rings that are named."""
    on = (scenarios, parity, testbed, real)
    named = [mark for mark, wanted in zip(RINGS.values(), on, strict=True) if wanted]
    marks = " or ".join(named) or " and ".join(f"not {ring}" for ring in RINGS)
    # A start of SGLang is one process for half of its time: two files share two cores well.
    workers = "" if testbed else f" -n 2 --dist {'loadfile' if real else 'loadgroup'}"
    environment = {"RELIGHT_UPDATE_SNAPSHOTS": "1"} if update else {}
    c.run(f"{TOOLS}/pytest -q{workers} -m '{marks}' {only}", env=environment, pty=False)


@task(pre=[lint])
def ci(c: Context) -> None:
    """Do what .ci/run and the GitHub workflow begin with: lint, types, layers, rings 1 to 3."""
    test(c)


ns: Collection = namespace()
for command in (lint, test, ci):
    ns.add_task(cast("Task[Any]", command))
ns.add_collection(testbed.collection())
