"""`systemd_service` on a host where systemd lives does what ansible-core's does over SSH there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parity.ansible_core import ansible
from tests.parity.two_runs import BOOKS, differences, recap, stable
from tests.testbed.base_image import USER
from tests.testbed.bed import Testbed
from tests.testbed.fixtures import lent

__all__ = ["ansible"]
pytestmark = [pytest.mark.parity, pytest.mark.testbed]
BOOK = BOOKS / "on_host" / "systemd.yml"
STATUS = frozenset(
    {"ActiveState", "SubState", "LoadState", "UnitFileState", "Result", "Id", "Type"}
)
"""What of a unit's status two runs share."""


@pytest.fixture(scope="module")
def bed() -> Iterator[Testbed]:
    """Return one host with a systemd of its own."""
    with lent("parity") as made:
        made.up(1)
        yield made


def test_both_leave_the_units_alike(bed: Testbed, ansible: Path, tmp_path: Path) -> None:
    """Return values, recap and the units' states are those of ansible-core."""
    address = {"ansible_host": bed.node(1).address, "ansible_user": "root"}
    key = {"ansible_ssh_private_key_file": str(bed.access.key)}
    inventory = {"all": {"hosts": {"node1": {**address, **key}}}}
    (tmp_path / "hosts.json").write_text(json.dumps(inventory))
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    shutil.copy(bed.access.known_hosts, tmp_path / "home" / ".ssh" / "known_hosts")
    known = f"-F /dev/null -o UserKnownHostsFile={bed.access.known_hosts}"
    options = ["-i", str(tmp_path / "hosts.json"), "-e", json.dumps({"ordinary": USER})]
    theirs = _ran(
        [str(ansible / "bin/ansible-playbook"), *options, str(BOOK)],
        {"ANSIBLE_SSH_COMMON_ARGS": known, "ANSIBLE_PIPELINING": "1", "ANSIBLE_NOCOLOR": "1"},
        bed,
    )
    ours = _ran(
        [sys.executable, "-m", "relight", "play", "--playbook", str(BOOK), *options],
        {"HOME": str(tmp_path / "home")},
        bed,
    )
    assert differences(ours, theirs) == []


def _ran(command: list[str], changes: dict[str, str], bed: Testbed) -> dict[str, Any]:
    environment = {**os.environ, "LC_ALL": "C.UTF-8", **changes}
    ran = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    text = ran.stdout + ran.stderr
    found: dict[str, Any] = {"exit": ran.returncode, "recap": recap(text)}
    for name in ("relight-parity.json", "relight-parity-own.json"):
        said = bed.ssh(1, f"cat /tmp/{name} && rm /tmp/{name}", user="root")
        assert said.returncode == 0, text
        found[name] = _lasting(stable(json.loads(said.stdout), 0))
    return found


def _lasting(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        key: {k: v for k, v in item.items() if k in STATUS} if key == "status" else _lasting(item)
        for key, item in value.items()
    }
