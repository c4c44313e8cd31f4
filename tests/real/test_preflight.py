"""Ring 5: what SGLang would refuse is found while the old server serves, and costs no downtime."""

from __future__ import annotations

import pytest

from relight.errors import EXIT_FAILED
from tests.real.project import TEXT_ONLY
from tests.real.rig import Rig

pytestmark = pytest.mark.real


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("no-such-flag=1", "SGLang 0.5.10 has no --no-such-flag"),
        ("max-running-requests=many", "max-running-requests"),
    ],
)
def test_a_flag_that_this_version_refuses(local10: Rig, flag: str, said: str) -> None:
    """It is named, nothing is stopped, and nothing is written: exit 2."""
    before, releases = local10.ready(), local10.releases()
    ended = local10.deploy("--set", flag)
    assert ended.code == EXIT_FAILED, ended.text
    assert said in ended.text
    assert local10.served() == before
    assert local10.releases() == releases


def test_language_only_as_a_layer_costs_no_launch(local10: Rig) -> None:
    """The layer is left out before the stop: one launch, `degraded`, and `ok` when asked again."""
    local10.ready()
    local10.lay(layers=TEXT_ONLY)
    try:
        words = ("--set", "max-running-requests=5")
        ended = local10.deploy(*words)
        assert ended.code == 0, ended.text
        assert "requires at least one encoder urls" in ended.text
        assert "attempt 1 is ready" in ended.text
        assert "degraded: without" in ended.text
        served = local10.served()
        assert served.release == local10.known_good()
        assert "degraded: without" in local10.run("status", "--host", local10.host).text
        again = local10.deploy(*words)
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
