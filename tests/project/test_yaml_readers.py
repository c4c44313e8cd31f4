"""Two readers, one meaning: libyaml where text is YAML, ruamel.yaml where it has to say why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.errors import InputFaults
from relight.project import yaml
from relight.project.marks import Document
from relight.project.yaml_syntax import events

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path for top in ("playbooks", "inventory", "tests") for path in (ROOT / top).rglob("*.yml")
)


def slowly(text: str, monkeypatch: pytest.MonkeyPatch) -> Document:
    """Read text with ruamel.yaml alone."""
    with monkeypatch.context() as patched:
        patched.setattr(yaml, "_QUICK", None)
        return yaml.parse(text, "x")


def test_there_are_two_readers() -> None:
    """Libyaml is there, or the other tests compare one reader with itself."""
    assert yaml._QUICK is not None
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_both_read_a_file_alike(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data, the place of every value and key, and oddities are the same."""
    text = path.read_text(encoding="utf-8")
    quick, slow = yaml.parse(text, "x"), slowly(text, monkeypatch)
    assert quick.data == slow.data
    assert quick.marks == slow.marks
    assert quick.oddities == slow.oddities


_WORDS = st.sampled_from(
    (
        "a",
        "b c",
        "1",
        "0x1f",
        "010",
        "yes",
        "~",
        "'q: r'",
        '"s\\n"',
        "!!str 5",
        "&n v",
        "2024-01-02",
    )
)
_VALUES = st.recursive(
    _WORDS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda some: f"[{', '.join(some)}]"),
        st.dictionaries(st.sampled_from("klm"), inner, min_size=1).map(
            lambda some: "{" + ", ".join(f"{key}: {value}" for key, value in some.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.booleans(), _VALUES), min_size=1, max_size=5))
def test_both_read_what_is_made_up_alike(items: list[tuple[bool, str]]) -> None:
    """Lists and mappings, in blocks and in flow, with tags, anchors, quotes and comments."""
    lines = [f"- {value} # c" if plain else f"-\n  key: {value}" for plain, value in items]
    text = "\n".join(lines)
    with pytest.MonkeyPatch.context() as patched:
        quick, slow = yaml.parse(text, "x"), slowly(text, patched)
    assert (quick.data, quick.marks) == (slow.data, slow.marks)


@pytest.mark.parametrize("text", ["a:\tb", "a: b\x85c: d", "a: 'b\u2028c'\nd: e"])
def test_what_libyaml_takes_for_more_is_read_by_yaml_1_2(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tabs, and line breaks that no editor counts, mean the same with and without libyaml."""

    def read(own: bool) -> object:  # noqa: FBT001 - local
        try:
            document = yaml.parse(text, "x") if own else slowly(text, monkeypatch)
        except InputFaults as refused:
            return str(refused)
        return document.data, dict(document.marks)

    assert read(True) == read(False)


def test_what_is_no_yaml_is_told_by_ruamel() -> None:
    """A fault names the place where what is open was opened, as without libyaml."""
    with pytest.raises(
        InputFaults, match="x:1:4: YAML syntax: what is opened here is never closed"
    ):
        yaml.parse("a: [b\n", "x")
    with pytest.raises(InputFaults, match="never closed"):
        list(events("a: [b\n", "x"))
