"""Ring 4: an adopted server under the launcher `systemd`: one server, never a second one."""

from __future__ import annotations

import shlex

import pytest

from tests.deadline import until
from tests.host.conftest import AS_ROOT
from tests.host.field import FAST, Field

pytestmark = pytest.mark.testbed

UNIT = "systemctl show -p ActiveState --value relight-main"


def test_adopted_then_kept_by_the_launcher(held: Field) -> None:
    """A second promotion starts nothing beside it; what relight then starts, the unit keeps."""
    release = held.observed(AS_ROOT).release
    assert release is not None
    code, said = held.run("stop", "--host", AS_ROOT.name)
    assert code == 0, said
    words = shlex.join(release.argv)
    env = " ".join(f"{name}={shlex.quote(value)}" for name, value in (FAST | release.env).items())
    held.says(AS_ROOT, f"{env} setsid -f {words} >/root/own.log 2>&1 </dev/null")
    until(lambda: "fired up" in held.says(AS_ROOT, "cat /root/own.log"), 60, "a server by hand")

    code, said = held.run("adopt", "--host", AS_ROOT.name)
    assert code == 0, said
    assert "a reboot does not bring it back" in said
    adopted = held.observed(AS_ROOT)
    assert adopted.confirmed
    assert held.engines(AS_ROOT) == [adopted.pid]

    code, said = held.run("rollback", "--host", AS_ROOT.name)
    assert code == 0, said
    assert "serves already" in said
    assert held.engines(AS_ROOT) == [adopted.pid]
    assert held.says(AS_ROOT, UNIT).strip() == "inactive"

    code, said = held.run("restart", "--host", AS_ROOT.name)
    assert code == 0, said
    again = held.settled(AS_ROOT)
    assert again.current == adopted.current
    assert held.engines(AS_ROOT) == [again.pid]
    assert held.says(AS_ROOT, UNIT).strip() == "active"
    code, said = held.deploy(AS_ROOT, "--no-benchmark")
    assert code == 0, said
    assert held.observed(AS_ROOT).current != adopted.current
