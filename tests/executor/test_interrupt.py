"""Ctrl-C: running tasks are told, `always` runs, nothing new begins, the exit code is 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.executor.playbooks import Lab
text = Path(sys.argv[2]).read_text()
sys.exit(Lab(Path(sys.argv[1])).run(text).recap.exit_code)
"""
_TEXT = """
- hosts: one
  gather_facts: false
  tasks:
    - block:
        - {shell: "echo begun > {{ out }}/begun"}
        - {pause: {seconds: 60}}
        - {shell: "echo no > {{ out }}/after"}
      rescue:
        - {shell: "echo no > {{ out }}/rescue"}
      always:
        - {shell: "echo yes > {{ out }}/always"}
    - {shell: "echo no > {{ out }}/next"}
"""


def test_always_runs_when_the_operator_interrupts(tmp_path: Path) -> None:
    """The pause ends at once, always runs, neither rescue nor what follows does."""
    (tmp_path / "text.yml").write_text(_TEXT)
    root = str(Path(__file__).parents[2])
    program = [sys.executable, "-c", _PROGRAM.format(root=root)]
    running = subprocess.Popen(
        [*program, str(tmp_path), str(tmp_path / "text.yml")],
        env={**os.environ, "HOME": str(tmp_path)},
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=40) == 130
    finally:
        running.kill()
        running.wait()
    assert {p.name for p in tmp_path.iterdir()} & {"always", "after", "rescue", "next"} == {
        "always"
    }
