"""Tags, merge keys, aliases and keys come to plain data."""

from __future__ import annotations

from typing import Any

import pytest

from relight.core.language.literal import Literal
from relight.core.language.templating import Templar
from relight.errors import InputFaults
from relight.project.yaml import parse


def test_a_merge_key_gives_what_the_mapping_itself_does_not_say() -> None:
    """Own keys win, then earlier merged mappings; merges of merges count."""
    document = parse(
        "one: &one {a: 1, b: 1}\n"
        "two: &two {<<: *one, b: 2, c: 2}\n"
        "three: {<<: [*two, {a: 9, d: 9}], c: 3}\n",
        "x.yml",
    )
    assert document.data["two"] == {"a": 1, "b": 2, "c": 2}
    assert document.data["three"] == {"a": 1, "b": 2, "c": 3, "d": 9}


def test_a_merged_value_keeps_the_place_where_it_was_written() -> None:
    """A fault in a merged value points at the line that says it."""
    document = parse("base: &base\n  port: abc\nmain:\n  <<: *base\n", "x.yml")
    assert document.value_at(("main", "port")) == (2, 9)
    assert document.key_at(("main",)) == (3, 1)


def test_a_quoted_arrow_is_an_ordinary_key() -> None:
    """Only the plain word `<<` merges."""
    assert parse("'<<': 1\n", "x.yml").data == {"<<": 1}


def test_aliases_repeat_a_value() -> None:
    """An anchor that is set again means its latest value from there on."""
    assert parse("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "x.yml").data == {
        "a": 1, "b": 1, "c": 2, "d": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("on: 1", "on"),
        ("yes: 1", "yes"),
        ("5: 1", 5),
        ("'5': 1", "5"),
        ("~: 1", "~"),
        ("1.5: 1", "1.5"),
    ],
)
def test_a_key_is_text_or_a_whole_number(text: str, key: Any) -> None:
    """`on:` is the word on, not true: fallbacks have a key of that name."""
    assert list(parse(text, "x.yml").data) == [key]


def test_unsafe_text_is_never_rendered() -> None:
    """`!unsafe` holds for every text below it."""
    data = parse("a: !unsafe ['{{ x }}', {b: '{{ y }}', c: 5}]\nd: !unsafe '{{ z }}'\n", "x").data
    assert isinstance(data["a"][0], Literal)
    assert Templar({}).render(data) == {"a": ["{{ x }}", {"b": "{{ y }}", "c": 5}], "d": "{{ z }}"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!str 5", "5"),
        ("!!int 010", 8),
        ("!!float 3", 3.0),
        ("!!bool yes", True),
        ("!!null ~", None),
    ],
)
def test_tags_of_yaml_itself_are_understood(text: str, value: Any) -> None:
    """`!!int` and its sisters say the type."""
    assert parse(f"a: {text}\n", "x.yml").data == {"a": value}


@pytest.mark.parametrize("text", ["!!int x", "!!bool 3", "!!binary aGk=", "!!set {a}", "!custom x"])
def test_other_tags_are_faults(text: str) -> None:
    """A tag that does not fit its value, or that nobody knows, is refused."""
    with pytest.raises(InputFaults):
        parse(f"a: {text}\n", "x.yml")


def test_odd_numbers_are_remembered_with_their_places() -> None:
    """Who wants a number can say what `010` became."""
    document = parse("a: 010\nb: [1, 12:30]\n", "x.yml")
    assert set(document.oddities) == {("a",), ("b", 1)}
