"""Ring 5: two workers on the CPU, by tensor and by data parallelism, deployed by relight."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.real.environment import VERSIONS
from tests.real.project import preset
from tests.real.rig import rig_in

pytestmark = pytest.mark.real

# The core of each worker. 0.5.10 refuses it for dp-size, all others want it.
BOUND = {"SGLANG_CPU_OMP_THREADS_BIND": "0|1"}


@pytest.mark.parametrize("flag", ["tp-size", "dp-size"])
@pytest.mark.parametrize("version", VERSIONS)
def test_two_workers_serve(tmp_path: Path, version: str, flag: str) -> None:
    """The preset's flag and variable reach the engine: two schedulers, and an answer; then none."""
    rig = rig_in(tmp_path, version)
    env = {} if (version, flag) == ("0.5.10", "dp-size") else BOUND
    rig.lay(flags=preset(version)["flags"] | {flag: 2}, env=env)
    try:
        ended = rig.deploy()
        assert ended.code == 0, ended.text
        titles = [
            Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            for pid in rig.processes()
        ]
        assert sum(bool(re.match(r"sglang::scheduler", title)) for title in titles) == 2, titles
        assert rig.chat().json()["usage"]["completion_tokens"] == 16
        assert rig.run("stop", "--host", rig.host).code == 0
        assert rig.processes() == []
    finally:
        rig.end()
