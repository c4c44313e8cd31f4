"""The environment of ansible-core that the differential tests compare with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.parity.two_runs import HERE


@pytest.fixture(scope="session")
def ansible() -> Path:
    """Return the environment of ansible-core, made when it is not there."""
    made = subprocess.run(
        [str(HERE / "ansible.sh")], capture_output=True, text=True, timeout=600, check=False
    )
    if made.returncode:
        why = f"ansible-core cannot be installed: {made.stderr[-300:]}"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{why}; CI must not go without it")
        pytest.skip(why)
    return Path(made.stdout.strip())
