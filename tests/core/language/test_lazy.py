"""Variables in containers: rendered when looked up, and a dict or list to everyone."""

from __future__ import annotations

from typing import Any

import pytest

from relight.core.language.templating import Templar, TemplateFault

VARIABLES: dict[str, Any] = {
    "x": 1,
    "d": {"a": "{{ x }}", "b": {"c": ["{{ x + 1 }}"]}, "bad": "{{ nowhere }}", "o": "{{ omit }}"},
    "good": {"a": "{{ x }}", "b": 2},
    "l": ["{{ x }}", 2],
    "round": {"a": "{{ round }}"},
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("d.a", 1),
        ("d['b'].c[0]", 2),
        ("d.get('a')", 1),
        ("'a' in d", True),
        ("d.o | default('left out')", "left out"),
        ("d.bad | default('D')", "D"),
        ("good.items() | list", [["a", 1], ["b", 2]]),
        ("good.values() | list", [1, 2]),
        ("good == {'a': 1, 'b': 2}", True),
        ("good | dictsort", [["a", 1], ["b", 2]]),
        ("good | length", 2),
        ("l + l", [1, 2, 1, 2]),
        ("[0] + l", [0, 1, 2]),
        ("l * 2", [1, 2, 1, 2]),
        ("1 in l", True),
        ("l == [1, 2]", True),
        ("l | sum", 3),
        ("l[1:]", [2]),
        ("l | reverse | list", [2, 1]),
        ("l.index(2)", 1),
        ("l.count(1)", 1),
        ("l.copy()", [1, 2]),
        ("good.copy()", {"a": 1, "b": 2}),
        ("'%s' % (good,)", "{'a': 1, 'b': 2}"),
        ("l | string", "[1, 2]"),
        ("good is mapping and l is sequence", True),
        ("dict(good, c=3)", {"a": 1, "b": 2, "c": 3}),
    ],
)
def test_a_container_is_what_it_says(expression: str, value: Any) -> None:
    """Every way to look at a lazy container shows rendered values."""
    result = Templar(VARIABLES).expression(expression)
    assert result == value


def test_the_whole_of_a_broken_container_is_a_fault() -> None:
    """Only who takes all of it meets the broken entry."""
    templar = Templar(VARIABLES)
    assert templar.expression("d.a") == 1
    with pytest.raises(TemplateFault, match="nowhere"):
        templar.expression("d | to_json")
    with pytest.raises(TemplateFault, match="loop"):
        templar.expression("round")
