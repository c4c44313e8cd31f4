"""The flag that killed servers at night: SGLang's --language-only, asked for as a layer."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.deploy.conftest import Rig
from tests.deploy.scenarios import Prober, free_port

LAYER = {"layers": {"text-only": {"flags": {"language-only": True}}}}


def test_it_is_dropped_while_the_old_server_answers(rig: Rig) -> None:
    """Preflight finds it; no question goes unanswered before the switch; one launch, degraded."""
    port = free_port()
    rig.write(None, main={"preset": "tiny", "port": port})
    assert rig.deploy("--no-benchmark").code == 0
    old = rig.observed()
    rig.write(LAYER, main={"preset": "tiny", "port": port})
    prober = Prober(port)
    prober.start()
    ended = rig.deploy("--no-benchmark")
    prober.end()
    assert ended.code == 0, ended.everything
    assert "degraded=1" in ended.out
    assert "--encoder-urls" in ended.out
    seen = rig.observed()
    assert seen.launch == old.launch + 1
    assert seen.release is not None
    assert [one.what for one in seen.release.gave_up] == ["layer text-only"]
    stopping = seen.ledger.last("stopping")
    assert stopping is not None
    at = datetime.strptime(stopping.t, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
    assert prober.first is not None
    assert prober.first >= at
