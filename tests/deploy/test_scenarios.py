"""Each line of docs/scenarios.md is played, and must end as it is written there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from relight.standin.scenarios import SCENARIOS
from tests.deploy.conftest import ROOT, Rig
from tests.deploy.scenarios import CASES, Came, Case, Ground, row

pytestmark = pytest.mark.scenarios

TABLE = ROOT / "docs" / "scenarios.md"
_CELLS = 7


def lines() -> dict[str, list[str]]:
    """Return the cells of the table's lines by their first cell."""
    found: dict[str, list[str]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == _CELLS and cells[0] != "scenario":
            found[cells[0]] = cells
    return found


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Return a project whose known-good serves; one for all lines that a worker plays."""
    folder = tmp_path_factory.mktemp("scenarios")
    home = folder / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    rig = Rig(folder / "project", home, env)
    rig.folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        try:
            yield Ground(rig)
        finally:
            rig.kill_all()


def test_the_table_has_every_case_and_no_other() -> None:
    """A line that nobody plays, or a case that nobody wrote down, is a fault."""
    assert list(lines()) == [case.name for case in CASES]


def test_every_scenario_of_the_stand_in_is_played() -> None:
    """A new misfortune needs a line: what relight makes of it."""
    told = " ".join(f"{case.plays} {case.old}" for case in CASES)
    assert {name for name in SCENARIOS if not re.search(rf"\b{name}\b", told)} == set()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_line_is_true(case: Case, ground: Ground) -> None:
    """Attempts, verdict, what serves and the exit code as written; dark only where it says so."""
    came: Came = ground.play(case)
    out = os.environ.get("RELIGHT_SCENARIOS_OUT")
    if out:
        with Path(out).open("a", encoding="utf-8") as file:
            file.write(row(case, came) + "\n")
        return
    *_, attempts, verdict, serves, code, dark = lines()[case.name]
    words = (str(came.attempts), came.verdict, came.serves, str(came.code))
    assert words == (attempts, verdict, serves, code), came.out
    assert (came.dark > 0) == (float(dark) > 0), came.dark
    assert came.dark <= 4 * float(dark) + 15, came.dark
