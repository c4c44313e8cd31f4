"""Ring 5: a start of SGLang 0.5.10 that fails is named, and what was known to be good serves.

With --no-preflight, so that the engine itself is what fails: the way of last resort. What the
checks before the stop find is in test_preflight.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from relight.errors import EXIT_DARK, EXIT_ROLLED_BACK
from tests.real.project import TEXT_ONLY
from tests.real.questions import events
from tests.real.rig import Rig, rig_in

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def alone() -> bool:
    """On the CPU the pool's room is the machine's: a neighbour that ends would make some."""
    return True


@pytest.mark.parametrize(
    ("words", "failure", "evidence"),
    [
        pytest.param(("no-such-flag=1",), "cli_args", "--no-such-flag", id="unknown-flag"),
        pytest.param(
            ("mem-fraction-static=0.00001", "max-total-tokens="),
            "oom_pool",
            "mem-fraction-static",
            id="no-room-for-the-pool",
        ),
    ],
)
def test_a_flag_that_kills_the_first_start(
    tmp_path: Path, words: tuple[str, ...], failure: str, evidence: str
) -> None:
    """Class and flag are named, by `diagnose` too; with nothing to return to it is dark: exit 5."""
    rig = rig_in(tmp_path, "0.5.10")
    try:
        ended = rig.deploy("--no-preflight", *(word for one in words for word in ("--set", one)))
        assert ended.code == EXIT_DARK, ended.text
        assert failure in ended.text
        assert evidence in ended.text
        told = events(rig.on("diagnose", "--json"))[-1]
        assert (told["ready"], told["class"]) == (False, failure), told
        assert rig.processes() == []
    finally:
        rig.end()


def test_a_flag_of_another_version_leads_back_to_the_known_good(local10: Rig) -> None:
    """The flag is named, and the known-good is served again, by another process: exit 3."""
    before = local10.ready()
    ended = local10.deploy("--no-preflight", "--set", "cuda-graph-backend-prefill=breakable")
    assert ended.code == EXIT_ROLLED_BACK, ended.text
    assert "cli_args" in ended.text
    assert "--cuda-graph-backend-prefill" in ended.text
    after = local10.served()
    assert after.release == before.release == local10.known_good()
    assert after.process != before.process
    assert local10.answers()


def test_language_only_as_a_layer_ends_degraded(local10: Rig) -> None:
    """The layer that SGLang refuses is dropped by a second launch; `degraded`, with the reason."""
    local10.ready()
    local10.lay(layers=TEXT_ONLY)
    try:
        ended = local10.deploy("--no-preflight", "--set", "max-running-requests=3")
        assert ended.code == 0, ended.text
        assert "attempt 1 is failed" in ended.text
        assert "attempt 2 is ready" in ended.text
        assert "degraded: without" in ended.text
        assert "text-only" in ended.text
        assert local10.answers()
        served = local10.served()
        assert served.release == local10.known_good()
        assert "degraded: without" in local10.on("status").text
        again = local10.deploy("--no-preflight", "--set", "max-running-requests=3")
        assert again.code == 0, again.text
        assert local10.served() == served
    finally:
        local10.lay()
