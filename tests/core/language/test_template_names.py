"""Names that a template surely needs."""

from __future__ import annotations

import pytest

from relight.core.language.template_names import needed


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("{{ a }} {{ b.c[d] }}", {"a", "b", "d"}),
        ("{{ a | default('x') }} {{ a | default(b) }}", set()),
        ("{{ a is defined }} {{ b is none }}", set()),
        ("{{ a is failed }}", {"a"}),
        ("{{ a | ternary(b, c) }}", set()),
        ("{{ a if b else c }}", {"b"}),
        ("{{ a and b }} {{ c or d }}", {"a", "c"}),
        ("{{ a is defined and a.b == c }}", set()),
        ("{% if a %}{{ b }}{% else %}{{ c }}{% endif %}", {"a"}),
        ("{% for x in a %}{{ x }}{{ b }}{% endfor %}", {"a"}),
        ("{% set x = a %}{{ x }}", {"a"}),
        ("{{ [a, {'k': b}] | map('upper') | join(c) }}", {"a", "b", "c"}),
        ("{{ a in b }} {{ not c }}", {"a", "b", "c"}),
        ("{{ 'text' }} {{ range(3) }}", set()),
        ("{{ broken", set()),
    ],
)
def test_needed(source: str, names: set[str]) -> None:
    """What may be spared, or is only asked about, is not needed."""
    found = needed(source) - {"range"}
    assert found == names


@pytest.mark.parametrize(
    ("source", "names"),
    [("a.rc == 0", {"a"}), ("not a", {"a"}), ("a or b", {"a"}), ("a == ", set())],
)
def test_needed_by_an_expression(source: str, names: set[str]) -> None:
    """A condition is read as an expression, without braces."""
    assert needed(source, expression=True) == names
