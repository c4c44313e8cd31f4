"""Verb `facts`: what a host is and how one service stands there, in one round trip."""

from __future__ import annotations

from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.look import look
from relight.deploy.proof import url
from relight.deploy.target import target_of
from relight.modules import Scope


class Args(Frozen):
    """`service` is one of the host's `relight_services`."""

    service: str = "main"


def run(args: Args, scope: Scope) -> Outcome:
    """Look; writes only relight's own script, and nothing under `--check`.

    `endpoints` are the paths of the engine's HTTP face, `url` is where its server answers.
    """
    target = target_of(
        scope.project, scope.host, args.service, scope.open_connection(), scope.report
    )
    seen = look(target, write=not scope.check)
    return Outcome(
        values={
            "facts": seen.facts.model_dump(mode="json"),
            "service": seen.observed.model_dump(mode="json"),
            "endpoints": target.engine.endpoints.model_dump(),
            "url": url(seen.observed.release) if seen.observed.release else "",
        }
    )
