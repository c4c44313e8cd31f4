"""Extra variables are read as `ansible-playbook -e` reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from relight.project import extra_variables
from relight.project.files import Files

Lay = Callable[[Mapping[str, str]], Path]


def values(*words: str) -> tuple[dict[str, object], list[str]]:
    """Return what options set, and the faults."""
    files = Files()
    found = extra_variables.read(words, files)
    return {name: item.value for name, item in found.items()}, [str(f) for f in files.faults]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("a=1", {"a": "1"}),
        ("a=1 b=two", {"a": "1", "b": "two"}),
        ("a='x y' b=\"z w\"", {"a": "x y", "b": "z w"}),
        ("a={{ b | default(1) }}", {"a": "{{ b | default(1) }}"}),
        ("a=x=y", {"a": "x=y"}),
        ("a=", {"a": ""}),
        ('{"a": 1, "b": [true]}', {"a": 1, "b": [True]}),
        ("{a: 1, b: yes}", {"a": 1, "b": True}),
        ("", {}),
    ],
)
def test_an_option_sets_these(word: str, expected: dict[str, object]) -> None:
    """Pairs give text, braces give types."""
    assert values(word) == (expected, [])


def test_files_and_later_options_win(lay: Lay) -> None:
    """`@FILE` is YAML or JSON; its values keep their places."""
    lay({"x.yml": "a: 1\nb: 2\n"})
    assert values("@x.yml", "b=3") == ({"a": 1, "b": "3"}, [])


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("a", "sets no variable"),
        ("a='x", "never closed"),
        ("[1]", "no mapping"),
        ("{a: [", "never closed"),
        ("a-b=1", "no name of a variable"),
        ("@nowhere.yml", "cannot be read"),
    ],
)
def test_what_is_wrong_is_said(word: str, words: str, lay: Lay) -> None:
    """As a fault among the others, so that all show in one run."""
    lay({})
    _, faults = values(word, "c=1")
    assert len(faults) == 1
    assert words in faults[0]
