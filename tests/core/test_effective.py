"""Effective values: what a host kept is read as data, and only differences in effect are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.build import Explained, Explanation
from relight.core.effective import Effective, differences, read_effective

FLAGS = st.sampled_from(["max-running-requests", "page-size", "host"])
VALUES = st.none() | st.integers(0, 3) | st.booleans() | st.sampled_from(["a", "b"])
explained = st.builds(Explained, flag=FLAGS, requested=VALUES, resolved=VALUES)
groups = st.lists(explained, max_size=3).map(tuple)
releases = st.builds(
    Effective,
    release=st.just("r"),
    launch=st.just(1),
    at=st.just(""),
    explanation=st.builds(Explanation, kept=groups, lost=groups, changed=groups),
    info=st.dictionaries(st.sampled_from(["page_size", "host"]), VALUES),
)


def of(info: dict[str, int | str] | None = None, **told: tuple[Explained, ...]) -> Effective:
    """Return a release with these groups."""
    explanation = Explanation(**told)
    return Effective(release="r", launch=1, at="", explanation=explanation, info=dict(info or {}))


def one(
    flag: str, requested: int | str | None, resolved: int | str | None, why: str = ""
) -> Explained:
    """Return one flag's account."""
    return Explained(flag=flag, requested=requested, resolved=resolved, why=why)


@given(releases)
def test_a_release_differs_in_nothing_from_itself(release: Effective) -> None:
    """Equal accounts give no row, whatever is in them."""
    assert differences(release, release) == ()


@given(releases)
def test_what_is_kept_is_read_back(release: Effective) -> None:
    """What was written is what is read."""
    assert read_effective(release.model_dump_json()) == release


def test_asked_and_effective_stand_side_by_side() -> None:
    """16 asked, 10 effective: the figure, and why."""
    before = of(kept=(one("max-running-requests", 8, 8),))
    now = of(lost=(one("max-running-requests", 16, 10, "cut by the mamba cache"),))
    row = ("--max-running-requests", "8", "16 asked, 10 effective", "cut by the mamba cache")
    assert differences(before, now) == (row,)
    assert differences(None, now) == ((row[0], "-", row[2], row[3]),)
    assert differences(None, before) == ()


def test_what_ended_says_what_it_was() -> None:
    """A restriction that is gone is told with its former reason."""
    before = of(lost=(one("x", "on", None, "no P2P"),))
    row = ("--x", "on asked, not in effect", "on", "no longer: no P2P")
    assert differences(before, of(kept=(one("x", "on", "on"),))) == (row,)


def test_the_same_value_by_another_way_is_no_difference() -> None:
    """Asked for before and the default now, or not explained before: the effect is the same."""
    before = of({"page_size": 1}, kept=(one("host", "a", "a"),))
    now = of({"host": "a"}, changed=(one("page-size", None, 1),))
    assert differences(before, now) == ()
    other = of({"host": "b"}, changed=(one("page-size", None, 2),))
    assert differences(before, other) == (
        ("--page-size", "1 (not asked)", "2 (not asked)", ""),
        ("--host", "a", "b (not asked)", ""),
    )


def test_asking_for_more_in_vain_is_a_difference() -> None:
    """The same figure in effect, and more was asked for: the operator must see it."""
    before = of(lost=(one("m", 16, 10),))
    now = of(lost=(one("m", 20, 10),))
    assert differences(before, now) == (
        ("--m", "16 asked, 10 effective", "20 asked, 10 effective", ""),
    )


@pytest.mark.parametrize("text", ["", "{", "null", '{"release": 1}', "\x00"])
def test_what_cannot_be_read_is_nothing(text: str) -> None:
    """Torn and foreign files count as absent."""
    assert read_effective(text) is None
