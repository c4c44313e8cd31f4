"""The start of relight: what it imports is compiled once, not at each start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("wish", "cached"), [("", {"loader"}), ("1", set())])
def test_bytecode_is_kept_as_python_is_told(tmp_path: Path, wish: str, cached: set[str]) -> None:
    """Bytecode is cached although Invoke turns that off, unless the user turned it off."""
    folder = tmp_path / "inventory"
    folder.mkdir()
    (folder / "hosts.yml").write_text("all: {hosts: {box: {ansible_connection: local}}}\n")
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": wish,
    }
    words = [sys.executable, "-m", "relight", "inventory", "--host", "box"]
    subprocess.run(words, cwd=tmp_path, env=env, check=True, capture_output=True)
    kept = {path.name.split(".")[0] for path in tmp_path.rglob("relight/project/*.pyc")}
    assert kept & {"loader"} == cached
