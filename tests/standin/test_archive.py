"""The zipapp: the same bytes each time, small, quick, alone on a bare python3."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from relight.standin.archive import build
from tests.standin.rig import environment, run


def test_the_same_sources_give_the_same_bytes() -> None:
    """Two builds are equal byte for byte."""
    assert build() == build()


def test_it_is_small() -> None:
    """One file below 100 kB can be shipped on every deploy."""
    assert len(build()) < 100_000


def test_every_file_is_python_3_9(archive: Path) -> None:
    """Nothing in it needs a newer grammar, and annotations are never evaluated."""
    with zipfile.ZipFile(archive) as packed:
        names = [name for name in packed.namelist() if name.endswith(".py")]
        assert len(names) > 30
        for name in names:
            source = packed.read(name).decode()
            ast.parse(source, name, feature_version=(3, 9))
            if " | " in source:
                assert "from __future__ import annotations" in source


def test_it_runs_isolated_from_every_package(archive: Path) -> None:
    """With no site-packages and no environment, the zipapp still tells its version."""
    result = subprocess.run(
        [sys.executable, "-I", "-S", str(archive), "--print-version"],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    assert result.stdout == "0.5.10\n"


def test_it_starts_in_less_than_a_third_of_a_second(archive: Path) -> None:
    """The best of five runs is quick; the machine may be busy for some of them."""

    def took() -> float:
        began = time.monotonic()
        assert run(archive, "--print-version").returncode == 0
        return time.monotonic() - began

    assert min(took() for _ in range(5)) < 0.3


def test_the_package_and_the_archive_are_the_same_program(archive: Path) -> None:
    """`python3 -m relight.standin` answers as the zipapp does."""
    result = subprocess.run(
        [sys.executable, "-m", "relight.standin", "--print-flags"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert result.stdout == run(archive, "--print-flags").stdout
