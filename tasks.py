"""The invoke face: relight's commands, and the gate of those who build it."""

from invoke.collection import Collection
from invoke.context import Context
from invoke.tasks import task

from relight.commands import namespace


@task
def lint(c: Context) -> None:
    """Hold style, types and layers."""
    c.run("ruff check .", pty=False)
    c.run("ruff format --check .", pty=False)
    c.run("mypy", pty=False)
    c.run("lint-imports", pty=False)


@task(
    help={
        "update": "rewrite the snapshots of rendered scripts",
        "testbed": "ring 4: real systemd hosts on this machine (root)",
        "real": "ring 5: SGLang itself on the CPU",
        "parity": "the same playbooks by ansible-core",
        "only": "paths or pytest options",
    }
)
def test(
    c: Context,
    update: bool = False,
    testbed: bool = False,
    real: bool = False,
    parity: bool = False,
    only: str = "",
) -> None:
    """Run rings 1 to 3, or the rings that are named."""
    chosen = [name for name, on in (("testbed", testbed), ("real", real), ("parity", parity)) if on]
    marks = " or ".join(chosen) or "not testbed and not real and not parity"
    workers = "" if chosen else " -n 2 --dist loadgroup"
    environment = {"RELIGHT_UPDATE_SNAPSHOTS": "1"} if update else {}
    c.run(f"pytest -q{workers} -m '{marks}' {only}", env=environment, pty=False)


@task(pre=[lint])
def ci(c: Context) -> None:
    """Do what .ci/run and the GitHub workflow do first: lint, types, layers, rings 1 to 3."""
    test(c)


ns: Collection = namespace()
for command in (lint, test, ci):
    ns.add_task(command)
