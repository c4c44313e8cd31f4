"""docs/ansible.md names exactly what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relight.core.language.filters import FILTERS
from relight.core.language.jinja_tests import TESTS
from relight.core.language.keywords import KEYWORDS, LOOP_CONTROL, REFUSED
from relight.project.playbook_tasks import META

_PAGE = (Path(__file__).parents[2] / "docs" / "ansible.md").read_text()


def _section(begin: str, end: str) -> set[str]:
    text = _PAGE[_PAGE.index(begin) :]
    text = text[: text.index(end)]
    return set(re.findall(r"`([a-z_0-9]+)`", text))


@pytest.mark.parametrize(
    ("named", "there"),
    [
        (_section("Jinja's own filters", "and relight's"), set(FILTERS) - {"raw"}),
        (_section("(see below). Tests:", "`lookup`"), set(TESTS)),
        (_section("`loop_control` knows", "\n\n"), {"loop_control", *LOOP_CONTROL}),
        (_section("`meta` knows", "\n\n") - {"meta"}, set(META)),
    ],
    ids=["filters", "tests", "loop_control", "meta"],
)
def test_the_page_names_what_exists(named: set[str], there: set[str]) -> None:
    """Nothing is promised that is not there, and nothing is there that is not said."""
    assert named == there


def test_every_keyword_is_on_the_page() -> None:
    """Keywords that exist stand in the first part, refused ones in the last, or with their kin."""
    there = _section("**Plays.**", "**Files of tasks.**")
    assert set(KEYWORDS) <= there
    refused = _section("## What is refused", "`strategy: free`")
    spoken = {name for name in REFUSED if not name.startswith(("with_", "become_", "gather_"))}
    assert spoken - refused <= {"fact_path"}
