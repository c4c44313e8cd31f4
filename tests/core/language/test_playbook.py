"""Tags, and what tasks inherit."""

from __future__ import annotations

import pytest

from relight.core.language.playbook import Inherited, split_tags, wanted


@pytest.mark.parametrize(
    ("tags", "only", "skip", "runs"),
    [
        ("", "all", "", True),
        ("a", "all", "", True),
        ("never", "all", "", False),
        ("never,a", "a", "", True),
        ("never,a", "never", "", True),
        ("a", "b", "", False),
        ("always", "b", "", True),
        ("always", "b", "always", False),
        ("a", "tagged", "", True),
        ("", "tagged", "", False),
        ("never,a", "tagged", "", False),
        ("", "untagged", "", True),
        ("a", "untagged", "", False),
        ("a,b", "a", "b", False),
        ("a", "all", "tagged", False),
        ("always", "all", "all", True),
    ],
)
def test_tags_choose_tasks(tags: str, only: str, skip: str, runs: bool) -> None:  # noqa: FBT001
    """Ansible's special tags hold: all, always, never, tagged, untagged."""
    own = tuple(split_tags(tags))
    assert wanted(own, frozenset(split_tags(only)), frozenset(split_tags(skip))) is runs


def test_what_is_inherited_grows_inwards() -> None:
    """Conditions, tags and variables add up; other keywords are replaced by the innermost."""
    outer = Inherited().under({"when": "a", "tags": "x", "become": True, "vars": {"v": 1}})
    inner = outer.under({"when": ["b", "c"], "tags": ["y"], "become": False, "vars": {"v": 2}})
    assert inner.when == ("a", "b", "c")
    assert inner.tags == ("x", "y")
    assert inner.variables == ({"v": 1}, {"v": 2})
    assert inner.options["become"] is False
