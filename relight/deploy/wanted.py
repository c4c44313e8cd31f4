"""From a target and what was seen to what is wanted there, and to rendered releases."""

from __future__ import annotations

import getpass
import socket
from datetime import UTC, datetime
from pathlib import Path

from relight import __version__
from relight.core.attempt import Recipe
from relight.core.desired import Wanted, release_of
from relight.core.engine import EngineSpec
from relight.core.facts import HostFacts
from relight.core.language.text_template import render_text
from relight.core.release import Given, Release, another_id
from relight.deploy.look import Seen
from relight.deploy.secrets import new_values
from relight.deploy.target import Target

TEMPLATE = "launch.sh.j2"


def wanted_of(target: Target, seen: Seen, *, port: int) -> Wanted:
    """Return what is wanted, with `~/` resolved as on the host."""
    return Wanted(
        service_name=target.name,
        service=target.service,
        port=port,
        preset_name=target.service.preset,
        preset=target.preset.model_copy(
            update={"model": _absolute(target.preset.model, seen.facts)}
        ),
        spec=_resolved(target, seen.facts),
        engine_version=seen.facts.engine_version or "",
        launcher=target.spec.launcher,
        template=target.project.template(TEMPLATE),
    )


def port_of(target: Target, seen: Seen) -> int:
    """Return the service's port; for port 0 the one that its current release has, else 0."""
    if target.service.port:
        return target.service.port
    release = seen.observed.release
    return release.port if release is not None else 0


def render(target: Target, wanted: Wanted, recipe: Recipe) -> bytes:
    """Return launch.sh for a recipe."""
    variables = wanted.launch_variables(target.engine, recipe)
    return render_text(wanted.template, {}, variables, shell=True).encode()  # noqa: S604 - a way of quoting


def make_release(
    target: Target,
    wanted: Wanted,
    recipe: Recipe,
    *,
    known: tuple[str, ...],
    gave_up: tuple[Given, ...] = (),
    driver: str = "",
) -> tuple[Release, bytes]:
    """Return a lockfile and its launch.sh; raises InputFaults for a secret that is lost.

    Equal bytes keep the name they have in `known`, with equal secrets.
    """
    launch_sh = render(target, wanted, recipe)
    origin = {
        "by": f"{getpass.getuser()}@{socket.gethostname()}",
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": git_commit(target.project.root),
        "relight": __version__,
        "driver": driver,
    }
    release = release_of(
        wanted,
        target.engine,
        recipe,
        launch_sh,
        known=known,
        gave_up=gave_up,
        origin=origin,
    )
    if release.id in known and (renewed := new_values(target, wanted, release.id)):
        have = "has another value" if len(renewed) == 1 else "have other values"
        what = f"{', '.join(renewed)} {have} than in {release.id}: a release of its own"
        target.say(what)
        release = release.model_copy(update={"id": another_id(known, release.id)})
    return release, launch_sh


def git_commit(root: Path) -> str:
    """Return the commit that the project's folder stands at, read from .git without running git."""
    for folder in (root, *root.parents):
        head = folder / ".git" / "HEAD"
        if not head.is_file():
            continue
        text = head.read_text(encoding="utf-8", errors="replace").strip()
        if not text.startswith("ref: "):
            return text[:40]
        reference = folder / ".git" / text.removeprefix("ref: ")
        return reference.read_text(encoding="utf-8").strip()[:40] if reference.is_file() else ""
    return ""


def _absolute(path: str, facts: HostFacts) -> str:
    return f"{facts.home}/{path[2:]}" if path.startswith("~/") and facts.home else path


def _resolved(target: Target, facts: HostFacts) -> EngineSpec:
    spec = target.spec.engine
    archive = target.archive.place(target.spec.home) if target.archive else None
    command = spec.command
    return spec.model_copy(
        update={
            "python": _absolute(spec.python, facts) if spec.python else None,
            "command": tuple(_absolute(word, facts) for word in command) if command else None,
            "archive": _absolute(archive, facts) if archive else None,
            "model_root": _absolute(spec.model_root, facts) if spec.model_root else None,
            "env": {name: _absolute(value, facts) for name, value in spec.env.items()},
        }
    )
