"""A real SGLang that was started by hand: adopted as it runs, deployed over, and brought back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.rig import Rig
from tests.real.server import serving

pytestmark = pytest.mark.real
VERSION = "0.5.10"


def test_from_a_hand_started_server_and_back(tmp_path: Path) -> None:
    """Adopted without a restart; a deploy tells what differs in effect; back by its own words."""
    with serving(VERSION, tmp_path / "own.log") as server:
        rig = Rig(tmp_path / "project", VERSION, server.port)
        rig.lay()
        words = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        adopted = rig.run("adopt", "--host", rig.host)
        assert adopted.code == 0, adopted.text
        assert server.process.poll() is None
        release = rig.known_good()
        explained = rig.run("explain", "--host", rig.host, "--flag", "context-length")
        assert "asked and got" in explained.text

        deployed = rig.deploy("--no-preflight", "--set", "max-total-tokens=4096")
        assert deployed.code == 0, deployed.text
        assert f"in effect, against {release}" in deployed.text
        assert server.members() == []
        assert rig.answers()

    plan = rig.run("plan", "--host", rig.host, "--set", "max-total-tokens=2048")
    assert "down about" in plan.text
    back = rig.run("rollback", "--host", rig.host, "--to", release)
    assert back.code == 0, back.text
    again = int(rig.served().process.split()[0])
    assert Path(f"/proc/{again}/cmdline").read_bytes() == words
    assert rig.answers()
    assert rig.run("stop", "--host", rig.host).code == 0
    rig.gone()
