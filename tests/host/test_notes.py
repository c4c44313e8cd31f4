"""What the next `status` says after the host acted by itself."""

from __future__ import annotations

import pytest

from relight.cli.standing import notes
from relight.core.ledger import read_ledger
from relight.core.observed import Observed, State
from tests.host.test_heartbeat import ledger


@pytest.mark.parametrize(
    ("lines", "state", "says"),
    [
        (("started 3", "promoted 3"), "running", ()),
        (("deadman_fired 4", "rolled_back 4"), "running", ("rolled back",)),
        (("deadman_fired 4",), "exited", ("the host is returning to known-good",)),
        (("deadman_fired 4", "gave_up 4"), "exited", ("its first deploy died",)),
        (("promoted 3", "restarted 3"), "running", ("started again by the host",)),
        (("promoted 3", "deadman_fired 4", "kept 4"), "running", ()),
    ],
)
def test_the_hosts_own_acts_are_told(
    lines: tuple[str, ...], state: State, says: tuple[str, ...]
) -> None:
    """Each thing that a host did by itself is told once, and a plain promotion is not."""
    observed = Observed(
        state=state, current="0001-a-0", known_good="0001-a-0", ledger=ledger(*lines)
    )
    told = notes(observed)
    assert len(told) == len(says)
    assert all(text.startswith(word) for text, word in zip(told, says, strict=True))


def test_unconfirmed_first_deploy_asks_to_be_proved() -> None:
    """A server that a dead first deploy left says what to do about it."""
    seen = ledger("started 3", "deadman_fired 4", "left_unconfirmed 4")
    (told,) = notes(Observed(state="running", current="0001-a-0", ledger=seen))
    assert told.startswith("not confirmed: its deploy died")


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ('"rolled_back","why":"deadman"', "by the host itself (dead-man); "),
        ('"restarted","why":"the host was rebooted"', "the host was rebooted; "),
    ],
)
def test_the_return_of_other_secrets_is_told(event: str, says: str) -> None:
    """A key that was replaced and counts again is no secret to the operator."""
    line = f'{{"t":"T","fence":4,"event":{event},"not_secrets_of":"0002-a-1"}}'
    seen = Observed(
        state="running",
        current="0001-a-0",
        known_good="0001-a-0",
        ledger=read_ledger(line),
    )
    (told,) = notes(seen)
    assert told.endswith(f"{says}its secrets are not those of 0002-a-1")
