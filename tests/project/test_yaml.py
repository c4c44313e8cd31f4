"""YAML is read with places, and no file can break the reader."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relight.errors import InputFaults
from relight.project import yaml
from relight.project.marks import Document, Mark

SYNTAX = [
    ("a: [1, 2\nb: 3\n", 1, 4, "never closed"),
    ("a: {b: [\n", 1, 8, "never closed"),
    ("a: 1\nb: 'x\nc: 2\n", 2, 4, "never closed"),
    ("a:\n\tb: 1\n", 2, 1, "spaces"),
    ("a: b: c\n", 1, 5, "quote a value"),
    ("a: 1\nkey\nb: 2\n", 2, 1, "key: value"),
    ("a: 1\n b: 2\n", 2, 3, "indentation"),
    ("a:\n  - b\n - c\n", 3, 2, "indentation"),
    ("model: {{ models }}/qwen\n", 1, 8, "quote the whole value"),
    ("model: {{ models }}\n", 1, 9, "must be quoted"),
    ("- {{ x }}y\n", 1, 3, "quote the whole value"),
    ('a: "\\q"\n', 1, 6, "escape"),
    ("a: @x\n", 1, 4, "quote the value"),
    ("a: *nobody\n", 1, 4, "&nobody"),
    ("a: 1\n---\nb: 2\n", 2, 1, "one document"),
    ("a: 1\nb: 2\na: 3\n", 3, 1, "line 1"),
    ("a: !vault |\n  $ANSIBLE_VAULT\n", 1, 4, "reference"),
    ("a: !!python/object/apply:os.system ['id']\n", 1, 4, "not known"),
    ("? [1, 2]\n: 3\n", 1, 3, "cannot be a key"),
    (": 1\n", 1, 1, "empty"),
    ("a: &x [*x]\n", 1, 8, "inside of what it repeats"),
    ("<<: 3\n", 1, 5, "mappings only"),
    ("[" * 200, 1, 61, "deeper"),
    ("a: \x01\n", 1, 4, "control character"),
    ("a: 1\nb: x\0y\n", 2, 5, "control character"),
]


@pytest.mark.parametrize(("text", "line", "column", "words"), SYNTAX)
def test_what_is_wrong_is_said_where_it_stands(
    text: str, line: int, column: int, words: str, tmp_path: Path
) -> None:
    """Each mistake is one fault with the line and column of its cause, and a way out."""
    path = tmp_path / "x.yml"
    path.write_bytes(text.encode())
    with pytest.raises(InputFaults) as caught:
        yaml.read(path, "x.yml")
    (fault,) = caught.value.faults
    assert (fault.file, fault.line, fault.column) == ("x.yml", line, column)
    assert words in f"{fault.what}; {fault.right}"


@pytest.mark.parametrize(
    ("raw", "line", "column", "words"),
    [
        (b"a: 1\nb: \xff\xfe\n", 2, 4, "UTF-8"),
        ("a: 1".encode("utf-16"), 1, 1, "UTF-16"),
        (b"\x7fELF\x02\x01\x01\0\0\0\xff", 1, 11, "UTF-8"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", 2, 2, "UTF-8"),
        (b"x" * (yaml.LARGEST + 1), 0, 0, "larger"),
    ],
)
def test_what_is_no_text_is_refused(
    raw: bytes, line: int, column: int, words: str, tmp_path: Path
) -> None:
    """Other encodings, programs and huge files are named for what they are."""
    path = tmp_path / "x.yml"
    path.write_bytes(raw)
    with pytest.raises(InputFaults) as caught:
        yaml.read(path, "x.yml")
    (fault,) = caught.value.faults
    assert (fault.line, fault.column) == (line, column)
    assert words in f"{fault.what}; {fault.right}"


def test_a_file_that_cannot_be_opened_is_a_fault(tmp_path: Path) -> None:
    """A folder, a missing file and an impossible name are faults, not exceptions."""
    for path in (tmp_path, tmp_path / "nothing.yml", Path("a\0b")):
        with pytest.raises(InputFaults, match="cannot be read"):
            yaml.read(path, "x.yml")


def test_places_of_keys_and_values() -> None:
    """Every key and value has the line and column at which it begins, counted from 1."""
    document = yaml.parse("a: 1\nb:\n  - x\n  - {c: 'y'}\n", "x.yml")
    assert document.data == {"a": 1, "b": ["x", {"c": "y"}]}
    assert document.marks["a",] == Mark((1, 1), (1, 4))
    assert document.marks["b",] == Mark((2, 1), (3, 3))
    assert document.marks["b", 1, "c"] == Mark((4, 6), (4, 9))
    assert document.value_at(("b", 1, "no", "such")) == (4, 5)
    assert document.origin(("b", 1, "c")) == "x.yml:4"


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_text() -> None:
    """A file that an editor on Windows saved reads like any other."""
    text = yaml.decoded("\ufeffa: 1\r\nb: 2\r\n".encode(), "x.yml")
    assert yaml.parse(text, "x.yml").data == {"a": 1, "b": 2}


def test_an_expanding_file_is_refused_before_it_fills_the_memory() -> None:
    """Aliases that repeat each other nine times over eight levels stop at a limit."""
    names = "abcdefghi"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{n}: &{n} [{', '.join([f'*{m}'] * 9)}]" for m, n in itertools.pairwise(names)]
    with pytest.raises(InputFaults, match="too large"):
        yaml.parse("\n".join(lines), "x.yml")


def test_all_double_keys_of_a_file_are_told() -> None:
    """A second fault of the same file does not wait for the next run."""
    with pytest.raises(InputFaults) as caught:
        yaml.parse("a: 1\na: 2\nb: {c: 1, c: 2}\n", "x.yml")
    assert [(f.line, f.column) for f in caught.value.faults] == [(2, 1), (3, 11)]


def _outcome(raw: bytes) -> Document | tuple[str, ...]:
    """Return what reading came to: a document, or the files that faults name."""
    try:
        return yaml.parse(yaml.decoded(raw, "x"), "x")
    except InputFaults as error:
        return tuple(fault.file for fault in error.faults)


def _survives(text: str) -> None:
    outcome = _outcome(text.encode("utf-8", "surrogatepass"))
    assert isinstance(outcome, Document) or set(outcome) == {"x"}


PIECES = st.sampled_from(
    ["a", "b:", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ",", "'", '"', "|", ">", "&a ", "*a",
     "!x ", "!!int ", "<<: ", "#", "%YAML 1.1\n", "---\n", "...\n", "?", "{{ x }}", "\\x", "\t",
     "0x", "1:2", "\u2028", "\x85", "é", "\ud800", "%TAG ! x\n", "@", "`", "|2-\n", "&", "*"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Whatever stands in a file, it is a document or faults: no other exception."""
    _survives(text)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    """Bytes are a document or faults too."""
    outcome = _outcome(raw)
    assert isinstance(outcome, Document) or set(outcome) == {"x"}


def test_a_shipped_preset_with_one_character_changed_never_breaks_the_reader() -> None:
    """A thousand single slips in a real file end in a document or in faults."""
    preset = Path(__file__).parents[2] / "inventory" / "presets" / "sandbox.yml"
    text, chance = preset.read_text(encoding="utf-8"), random.Random(1)
    for _ in range(300):
        at = chance.randrange(len(text))
        slip = chance.choice(["", "\t", ":", "[", "{", "'", '"', "*", "&", "!", "\0", "- ", "\n"])
        _survives(text[:at] + slip + text[at + chance.randint(0, 2) :])
