"""How each service stands, in one line: pure, from what its host said."""

from __future__ import annotations

from datetime import UTC, datetime

from relight.core.duration import spell
from relight.core.observed import Observed

COLUMNS = (
    "host",
    "service",
    "state",
    "release",
    "known-good",
    "since",
    "tok/s",
    "restarts",
    "note",
)

_WORDS = {
    "none": "never deployed",
    "running": "running",
    "exited": "down: exited",
    "stopped": "stopped",
    "rebooted": "down since reboot",
    "lost": "down: gone",
}


def row(host: str, service: str, observed: Observed, drift: str = "") -> tuple[str, ...]:
    """Return one line of `status` under COLUMNS."""
    state = _WORDS[observed.state]
    if observed.state == "exited" and observed.exit is not None:
        state += f" {observed.exit}"
    measured = observed.ledger.of_release(observed.current or "", "benchmarked")
    good = (
        "yes"
        if observed.current and observed.current == observed.known_good
        else (observed.known_good or "none")
    )
    return (
        host,
        service,
        state,
        observed.current or "-",
        good,
        _since(observed),
        measured.figure("tok_s") if measured else "-",
        str(observed.restarts),
        "; ".join(filter(None, (*notes(observed), drift))),
    )


def notes(observed: Observed) -> tuple[str, ...]:
    """Return what an operator must know: who holds it, what is unfinished, what the host did."""
    found: list[str] = []
    if observed.release is not None and observed.release.degraded:
        given = ", ".join(one.what for one in observed.release.gave_up)
        found.append(f"degraded: without {given}")
    if observed.locked:
        found.append(f"a deploy holds it: {observed.holder}")
    elif observed.deadman == "armed":
        found.append(
            f"unfinished deploy: the host returns to known-good in {observed.deadman_left} s"
        )
    elif observed.deadman == "stale":
        found.append("unfinished deploy, and the host was rebooted in it")
    found += _last_event(observed)
    if observed.foreign:
        found.append(f"its port is held by {observed.foreign[0]}")
    if observed.ledger.unreadable:
        found.append(f"{observed.ledger.unreadable} torn ledger lines")
    return tuple(found)


def _last_event(observed: Observed) -> list[str]:
    """Return what the ledger's last word on this service is, when it is not a plain deploy."""
    last = observed.ledger.last(
        *("promoted", "rolled_back", "deadman_fired", "kept", "started"),
        *("left_unconfirmed", "gave_up", "restarted"),
    )
    event = last.event if last else ""
    at = f" at {last.t}" if last else ""
    why = last.text("why") if last else ""
    newer = last.text("not_secrets_of") if last else ""
    others = f"; its secrets are not those of {newer}" if newer else ""
    by_host = "by the host itself (dead-man)"
    if event == "rolled_back" and why == "restart":
        return [f"restarted{at}"]
    if event == "rolled_back":
        return [f"rolled back{at}: {by_host if why == 'deadman' else why}{others}"]
    if event == "deadman_fired":
        return [f"the host is returning to known-good{at}: {why}"]
    if event == "gave_up":
        return [f"its first deploy died, and was ended{at} {by_host}"]
    if event == "restarted":
        return [f"started again by the host{at}: {why}{others}"]
    if observed.state == "running" and not observed.confirmed and not observed.locked:
        died = f": its deploy died{at}; deploy it again to prove it"
        return ["not confirmed" + (died if event == "left_unconfirmed" else "")]
    return []


def _since(observed: Observed) -> str:
    if not observed.since:
        return "-"
    at = datetime.fromtimestamp(observed.since, UTC).strftime("%m-%d %H:%MZ")
    return f"{at} ({spell(max(0.0, observed.now - observed.since))})"
