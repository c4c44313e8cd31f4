"""What a ledger says of a deploy that lost its lock."""

from __future__ import annotations

from relight.core.ledger import Entry, Ledger
from relight.core.lost_lock import let_go_by, promoted_by


def ledger(*entries: tuple[int, str]) -> Ledger:
    """Return a ledger of events under their fences, each of release 0002."""
    details = {"release": "0002", "why": "the host was rebooted"}
    return Ledger(entries=tuple(Entry(event=e, fence=f, details=details) for f, e in entries))


def test_what_a_deploy_started_may_have_been_promoted() -> None:
    """Its own start counts, another's does not, and what it took back itself does not either."""
    assert promoted_by(ledger((4, "locked"), (4, "started")), 4) == "0002"
    assert promoted_by(ledger((4, "locked"), (5, "started")), 4) is None
    assert promoted_by(ledger((4, "started"), (4, "rolled_back")), 4) is None


def test_a_lock_that_was_given_back_was_not_lost() -> None:
    """A deploy's own last word is that it unlocked; another's does not count, nor an older one."""
    assert let_go_by(ledger((4, "promoted"), (4, "unlocked"), (5, "locked")), 4)
    assert not let_go_by(ledger((4, "promoted"), (5, "unlocked")), 4)
    assert not let_go_by(ledger((4, "unlocked"), (4, "lease_expired")), 4)
    assert not let_go_by(ledger(), 4)
