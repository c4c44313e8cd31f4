"""A service as its host tells it: what the controller concludes from the host script's words."""

from __future__ import annotations

import pytest

from relight.core.ledger import Entry, Ledger
from relight.core.observed import Observed


def promoted(*releases: str) -> Ledger:
    """Return a ledger of promotions, the oldest first, each with what follows one."""
    return Ledger(
        entries=tuple(
            Entry(event=event, details={"release": release})
            for release in releases
            for event in ("started", "promoted", "unlocked")
        )
    )


@pytest.mark.parametrize(
    ("history", "known_good", "stored", "before"),
    [
        ((), None, (), None),
        (("0001",), "0001", ("0001",), None),
        (("0001", "0002"), "0002", ("0001", "0002"), "0001"),
        (("0001", "0002", "0001"), "0001", ("0001", "0002"), "0002"),
        (("0001", "0002", "0002"), "0002", ("0001", "0002"), "0001"),
        (("0001", "0002", "0003"), "0003", ("0001", "0003"), "0001"),
        (("0001", "0002"), "0002", ("0002",), None),
    ],
)
def test_known_good_before(
    history: tuple[str, ...], known_good: str | None, stored: tuple[str, ...], before: str | None
) -> None:
    """It is the newest other release that was promoted and has not been pruned."""
    seen = Observed(known_good=known_good, releases=stored, ledger=promoted(*history))
    assert seen.known_good_before == before


def test_a_release_that_was_only_started_was_never_known_good() -> None:
    """A failed deploy between two promotions is not what one returns to."""
    ledger = promoted("0001")
    failed = Entry(event="started", details={"release": "0002"})
    ledger = Ledger(entries=(*ledger.entries, failed, *promoted("0003").entries))
    seen = Observed(known_good="0003", releases=("0001", "0002", "0003"), ledger=ledger)
    assert seen.known_good_before == "0001"
