"""Everything that stands in the way of a deploy: facts, state, and what only a try can tell."""

from __future__ import annotations

from relight.core.doctor import Finding, findings
from relight.deploy.look import look
from relight.deploy.target import Target
from relight.errors import HostError

_ORDER = ("fault", "warning", "unknown", "ok")
_CLOSED = "http://127.0.0.1:9/"


def examine(target: Target) -> tuple[Finding, ...]:
    """Look at the host, change nothing, and return every finding, the worst first."""
    seen = look(target, write=False)
    found = findings(
        seen.facts,
        seen.observed,
        target.service,
        launcher=target.spec.launcher,
        declared=sum(gpu.count for gpu in target.spec.gpus),
    )
    return tuple(sorted((*found, _forwards(target)), key=lambda one: _ORDER.index(one.level)))


def _forwards(target: Target) -> Finding:
    """Return whether HTTP may travel inside the connection: tried against a port that is closed."""
    import httpx  # noqa: PLC0415 - start-up time

    try:
        with httpx.Client(transport=target.connection.transport(), timeout=10) as http:
            http.get(_CLOSED)
    except HostError as error:
        return Finding(
            level="fault",
            subject="forwarding",
            what=str(error),
            remedy="allow it: AllowTcpForwarding local",
        )
    except httpx.HTTPError:
        pass
    return Finding(level="ok", subject="forwarding", what="HTTP travels inside the connection")
