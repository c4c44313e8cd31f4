"""Whether a launch that says it is ready holds its port, and who does when it does not."""

from __future__ import annotations

import pytest

from relight.core.failure import Diagnosis, FailureClass
from relight.core.observed import Pulse, read_pulse
from relight.core.placement import misplaced, with_holder

STRANGER = "pid 9 (eve): nc -l 30000"


def pulse(**told: str) -> Pulse:
    """Return a pulse as the host prints it."""
    facts = {"fence": "3", "state": "running", "exit": "", "pids": "7 8", "port_pids": "8 "}
    return read_pulse("".join(f"{name}={value}\n" for name, value in (facts | told).items()))


def test_a_launch_that_holds_its_port_is_well() -> None:
    """One of its processes listens there, and nobody else."""
    assert misplaced(pulse(), 30000) is None


@pytest.mark.parametrize(
    ("told", "failure", "words"),
    [
        ({"foreign": STRANGER}, FailureClass.PORT_IN_USE, STRANGER),
        ({"state": "exited", "exit": "137"}, FailureClass.RUNTIME_CRASH, "exit status 137"),
        ({"port_pids": ""}, FailureClass.PORT_IN_USE, "port 30000 is not its own"),
    ],
)
def test_what_is_wrong_is_named(told: dict[str, str], failure: FailureClass, words: str) -> None:
    """A stranger on the port, a process that is gone, and a port that nobody holds."""
    wrong = misplaced(pulse(**told), 30000)
    assert wrong is not None
    assert wrong.failure is failure
    assert words in wrong.summary


def test_the_holder_is_named_only_where_the_port_was_taken() -> None:
    """Another failure keeps its own words, whoever holds the port."""
    taken = Diagnosis(failure=FailureClass.PORT_IN_USE, summary="address already in use")
    other = Diagnosis(failure=FailureClass.OOM_WEIGHTS, summary="out of memory")
    assert STRANGER in with_holder(taken, pulse(foreign=STRANGER), 30000).summary
    assert with_holder(taken, pulse(), 30000) == taken
    assert with_holder(other, pulse(foreign=STRANGER), 30000) == other
