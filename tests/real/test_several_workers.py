"""Ring 5: two workers on the CPU, by tensor and by data parallelism, deployed by relight."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.real.project import preset
from tests.real.rig import rig_in

pytestmark = pytest.mark.real

# The core of each worker. (dp-size on 0.5.10 is the one that works without it, and refuses it.)
BOUND = {"SGLANG_CPU_OMP_THREADS_BIND": "0|1"}


@pytest.mark.parametrize(("version", "flag"), [("0.5.10", "tp-size"), ("0.5.23", "dp-size")])
def test_two_workers_serve(tmp_path: Path, version: str, flag: str) -> None:
    """The preset's flag and variable reach the engine: two schedulers, and an answer; then none."""
    rig = rig_in(tmp_path, version)
    usual = preset(version)
    rig.lay(flags=usual["flags"] | {flag: 2}, env=usual["env"] | BOUND)
    try:
        ended = rig.deploy("--no-preflight")
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
