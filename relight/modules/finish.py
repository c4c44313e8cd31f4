"""Verb `finish`: let go of the lock, and first undo a deploy that was not confirmed."""

from __future__ import annotations

from relight.core.ledger import Ledger
from relight.core.model import Frozen
from relight.core.outcome import Outcome
from relight.deploy.rollback import roll_back
from relight.deploy.target import target_of
from relight.errors import EXIT_DARK, EXIT_ROLLED_BACK
from relight.modules import Scope
from relight.store.service import StaleFence

_DONE = ("promoted", "confirmed", "kept", "rolled_back")
_BY_HOST = ("restarted", "rolled_back", "kept", "left_unconfirmed", "gave_up")


class Args(Frozen):
    """`fence` is what `switch` registered; 0 means that it never took the lock."""

    service: str = "main"
    fence: int = 0


def run(args: Args, scope: Scope) -> Outcome:
    """Unlock; when interrupted between stop and promotion, roll back first."""
    if scope.check or not args.fence:
        return Outcome(msg="no lock was taken")
    target = target_of(
        scope.project, scope.host, args.service, scope.open_connection(), scope.report
    )
    store = target.store
    try:
        entries = [one for one in store.ledger().entries if one.fence == args.fence]
        begun = any(one.event in ("stopping", "started") for one in entries)
        done = any(one.event in _DONE for one in entries)
        if begun and not done:
            came = roll_back(target, args.fence, to="", why="interrupted")
            store.unlock(args.fence)
            code = EXIT_ROLLED_BACK if came.serves else EXIT_DARK
            values = {"serves": came.serves, "release": came.release}
            return Outcome(changed=True, msg=came.message, values=values, exit_code=code)
        if done:
            store.let_go(args.fence)
        else:
            # A dead-man that is armed now is a dead deploy's: unlocking lets it act.
            store.unlock(args.fence)
    except StaleFence as stale:
        observed = store.status()
        since = taken_over(observed.ledger, args.fence)
        if observed.confirmed and observed.known_good == promoted_by(observed.ledger, args.fence):
            return Outcome(
                msg=f"{observed.known_good} was promoted before the lock was lost; {since}"
            )
        code = EXIT_ROLLED_BACK if observed.state == "running" else EXIT_DARK
        msg = f"{stale}; {since}"
        return Outcome(failed=True, msg=msg, exit_code=code)
    return Outcome(msg="unlocked")


def promoted_by(ledger: Ledger, fence: int) -> str | None:
    """Return the release that a deploy may have promoted: it started it, and took nothing back."""
    own = [one for one in ledger.entries if one.fence == fence]
    if any(one.event == "rolled_back" for one in own):
        return None
    return next((one.text("release") for one in reversed(own) if one.event == "started"), None)


def taken_over(ledger: Ledger, fence: int) -> str:
    """Return what became of a service whose lock was lost, from what the ledger says since."""
    since = [one for one in ledger.entries if one.fence > fence]
    fired = next((one for one in since if one.event in ("deadman_fired", "restarted")), None)
    holder = next((one for one in since if one.event == "locked"), None)
    if fired is not None and (holder is None or fired.fence < holder.fence):
        came = next((one for one in since if one.event in _BY_HOST), None)
        what = f"{came.event} {came.text('release')}" if came else "it is under way"
        return f"the host acted by itself ({fired.text('why')}): {what}"
    if holder is not None:
        return "another deploy holds the service now"
    return "nobody has taken it yet; the host returns to its known-good by itself"
