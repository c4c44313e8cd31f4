"""A deploy whose lock was lost: what it had promoted by then, and who acted since."""

from __future__ import annotations

from relight.core.ledger import Ledger

_BY_HOST = ("restarted", "rolled_back", "kept", "left_unconfirmed", "gave_up")


def promoted_by(ledger: Ledger, fence: int) -> str | None:
    """Return the release that a deploy may have promoted: it started it, and took nothing back."""
    own = [one for one in ledger.entries if one.fence == fence]
    if any(one.event == "rolled_back" for one in own):
        return None
    return next((one.text("release") for one in reversed(own) if one.event == "started"), None)


def let_go_by(ledger: Ledger, fence: int) -> bool:
    """Return whether a deploy gave its lock back itself, as the last that it did."""
    own = [one for one in ledger.entries if one.fence == fence]
    return bool(own) and own[-1].event == "unlocked"


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
