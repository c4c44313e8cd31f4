"""A host's templates are rendered, and each that fails is a fault where it is written."""

from __future__ import annotations

from typing import Any

import pytest

from relight.project.rendering import Rendered, syntax_faults, unrendered
from relight.project.variables import Variables, of_document
from relight.project.yaml import parse


def variables(text: str) -> Variables:
    """Return the variables of a file's text."""
    found, faults = of_document(parse(text, "v.yml"))
    assert faults == ()
    return found


def value_of(text: str, name: str, excused: tuple[str, ...] = ()) -> tuple[Any, list[str]]:
    """Return what a variable comes to, and its faults."""
    found = variables(text)
    value, faults = Rendered(found, excused).value(found[name].value, found[name].place)
    return value, [str(fault) for fault in faults]


def test_values_keep_their_types() -> None:
    """A template alone gives a number; inside of text it gives text."""
    text = "n: 3\na: ['{{ n }}', {b: 'x{{ n }}'}, '{{ omit }}', !unsafe '{{ n }}']\n"
    assert value_of(text, "a") == ([3, {"b": "x3"}, "{{ n }}"], [])


def test_all_templates_that_fail_are_told_and_the_others_rendered() -> None:
    """What failed stays as it was written."""
    value, faults = value_of("n: 1\na: ['{{ x }}', '{{ n }}', '{{ y.z }}']\n", "a")
    assert [fault.split(";")[0] for fault in faults] == [
        "v.yml:2:5: 'x' is undefined",
        "v.yml:2:27: 'y' is undefined",
    ]
    assert [unrendered(item) for item in value] == [True, False, True]
    assert value[1] == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: '{{ b }}'\nb: '{{ nowhere }}'\n", "v.yml:2:4"),
        ("a: '{{ b.c[0] }}'\nb: {c: ['{{ nowhere }}']}\n", "v.yml:2:9"),
        ("a: '{{ b }}'\nb: '{{ c }}'\nc: ['x', '{{ nowhere }}']\n", "v.yml:3:10"),
        ("a: '{{ a }}'\n", "v.yml:1:4"),
    ],
)
def test_the_cause_is_named_where_it_is_written(text: str, place: str) -> None:
    """In whichever variable the template stands that uses an unknown name."""
    _, faults = value_of(text, "a")
    assert [fault[: len(place)] for fault in faults] == [place]


def test_a_close_name_is_offered() -> None:
    """Else the way out is to define it."""
    _, faults = value_of("models: x\na: '{{ modles }}'\n", "a")
    assert faults[0].endswith("did you mean models?")
    _, faults = value_of("a: '{{ q }}'\n", "a")
    assert "define q in group_vars or host_vars" in faults[0]


def test_a_name_that_a_broken_file_may_define_is_excused() -> None:
    """The value is known not to be known."""
    value, faults = value_of("a: '{{ lost }}'\n", "a", ("lost",))
    assert faults == []
    assert unrendered(value)


def test_syntax_is_checked_without_rendering() -> None:
    """Every broken template of a file, used or not."""
    document = parse("a: '{{ x'\nb: ['{% if %}', ok, '{{ fine }}']\nc: !unsafe '{{ x'\n", "v.yml")
    assert [(f.line, f.column) for f in syntax_faults(document)] == [(1, 4), (2, 5)]
