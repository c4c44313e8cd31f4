"""Ctrl-C: running tasks are told, `always` runs, nothing new begins, the exit code is 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

_PROGRAM = """
import signal
import sys
from pathlib import Path
# A shell's background job ignores SIGINT, and so would everything that these tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
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


def _interrupted(folder: Path, text: str, ends: float) -> set[str]:
    """Interrupt a playbook once it wrote `begun`; return the names of the files that it left."""
    (folder / "text.yml").write_text(text)
    root = str(Path(__file__).parents[2])
    program = [sys.executable, "-c", _PROGRAM.format(root=root)]
    running = subprocess.Popen(
        [*program, str(folder), str(folder / "text.yml")],
        env={**os.environ, "HOME": str(folder)},
    )
    try:
        deadline = time.monotonic() + 60
        while not (folder / "begun").exists():
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=ends) == 130
    finally:
        running.kill()
        running.wait()
    return {p.name for p in folder.iterdir()} & {"always", "after", "rescue", "next"}


def test_always_runs_when_the_operator_interrupts(tmp_path: Path) -> None:
    """The pause ends at once, always runs, neither rescue nor what follows does."""
    assert _interrupted(tmp_path, _TEXT, 40) == {"always"}


@pytest.mark.parametrize("task", [
    '{shell: "echo begun > {{ out }}/begun; sleep 98765.4"}',
    '{shell: "echo begun > {{ out }}/begun; cat; sleep 98765.4", args: {stdin: fed}}',
    "{command: \"sh -c 'echo begun > {{ out }}/begun; sleep 98765.4 & sleep 98765.4'\"}",
], ids=["shell", "fed", "with children"])  # fmt: skip
def test_an_interrupted_command_ends_and_leaves_nothing(tmp_path: Path, task: str) -> None:
    """A long command does not delay `always`, and no process of it stays on the host."""
    text = _TEXT.replace('{shell: "echo begun > {{ out }}/begun"}', task)
    assert "98765" in text
    before = time.monotonic()
    assert _interrupted(tmp_path, text, 20) == {"always"}
    assert time.monotonic() - before < 60
    mark = str(tmp_path)
    assert not [line for line in _processes() if "sleep 98765.4" in line and mark in line]


def _processes() -> list[str]:
    """Return every process of this machine: its command line and its environment's HOME."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            home = (folder / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        found.append(words + home)
    return found
