"""Ring 5: a start of SGLang 0.5.10 that fails is named, and the known-good serves afterwards.

With --no-preflight, so that the engine itself is what fails: the way of last resort. What the
checks before the stop find is in test_preflight.py.
"""

from __future__ import annotations

import pytest

from relight.errors import EXIT_FAILED, EXIT_ROLLED_BACK
from tests.real.project import TEXT_ONLY
from tests.real.rig import Rig

pytestmark = pytest.mark.real


def falls_back(rig: Rig, *words: str) -> str:
    """Deploy what cannot start; return what was said once the known-good serves again."""
    before = rig.ready()
    ended = rig.deploy("--no-preflight", *words)
    assert ended.code == EXIT_ROLLED_BACK, ended.text
    after = rig.served()
    assert after.release == before.release == rig.known_good()
    assert after.process != before.process
    assert rig.answers()
    return ended.text


@pytest.mark.parametrize(
    ("words", "failure", "evidence"),
    [
        pytest.param(("no-such-flag=1",), "cli_args", "--no-such-flag", id="unknown-flag"),
        pytest.param(
            ("cuda-graph-backend-prefill=breakable",),
            "cli_args",
            "--cuda-graph-backend-prefill",
            id="flag-of-0.5.23",
        ),
        pytest.param(
            ("mem-fraction-static=0.00001", "max-total-tokens="),
            "oom",
            "mem-fraction-static",
            id="no-room-for-the-pool",
        ),
    ],
)
def test_a_flag_that_kills_the_start(
    local10: Rig, words: tuple[str, ...], failure: str, evidence: str
) -> None:
    """The failure's class and the flag are named, and the known-good is served again: exit 3."""
    said = falls_back(local10, *(word for one in words for word in ("--set", one)))
    assert failure in said
    assert evidence in said


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
        status = local10.run("status", "--host", local10.host).text
        assert "degraded: without" in status
        again = local10.deploy("--no-preflight", "--set", "max-running-requests=3")
        assert again.code == 0, again.text
        assert local10.served() == served
    finally:
        local10.lay()


def test_a_missing_model_is_refused_before_the_stop(local10: Rig) -> None:
    """A model that is not below model_root is named while the old server serves: exit 2."""
    before = local10.ready()
    local10.lay(model="no-such-model")
    try:
        ended = local10.deploy()
    finally:
        local10.lay()
    assert ended.code == EXIT_FAILED, ended.text
    assert "the model's folder is missing" in ended.text
    assert local10.served() == before
