"""Values rendered as Ansible 2.19 renders them: native types, lazy variables, nothing executed."""

from __future__ import annotations

from typing import Any

import pytest

from relight.core.language.lazy import OMIT
from relight.core.language.templating import Templar, TemplateFault, check_syntax

VARIABLES: dict[str, Any] = {
    "i": 5,
    "none": None,
    "yes": True,
    "no": False,
    "text": "abc",
    "chain": "{{ text }}-{{ i }}",
    "alias": "{{ i }}",
    "broken": "{{ nowhere }}",
    "loop_a": "{{ loop_b }}",
    "loop_b": "{{ loop_a }}",
    "d": {"a": 1, "b": "{{ d.a }}", "c": "{{ nowhere }}", "e": ["{{ i }}", 2]},
    "l": ["{{ i }}", "x"],
    "expression": "i == 5",
}
LITERALS = {"hostile": "{{ i }}", "result": {"stdout": "{{ lookup('pipe', 'id') }}", "rc": 0}}


@pytest.fixture
def templar() -> Templar:
    """Return a templar with the variables above."""
    return Templar(VARIABLES, LITERALS)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("{{ i }}", 5),
        ("{{ i }}\n", 5),
        ("{{ none }}", None),
        ("{{ none }}{{ i }}", 5),
        ("{{ i }}{{ i }}", "55"),
        ("{% if yes %}{{ i }}{% endif %}", 5),
        ("{% if no %}x{% endif %}", None),
        ("{{ yes }}", True),
        ("{{ '5' }}", "5"),
        ("{{ 1 + 2 }}", 3),
        ("a {{ l }}", "a [5, 'x']"),
        ("{{ l + [1] }}", [5, "x", 1]),
        ("{{ chain }}", "abc-5"),
        ("{{ alias + 1 }}", 6),
        ("{{ d.b }}", 1),
        ("{{ d.e }}", [5, 2]),
        ("{{ d.c | default('D') }}", "D"),
        ("{{ broken | default('D') }}", "D"),
        ("{{ d.no.deeper | default('D') }}", "D"),
        ("{{ no_such.at.all is defined }}", False),
        ("{{ text | regex_search('z') | default('D') }}", None),
        ("{{ text | regex_search('z') | default('D', true) }}", "D"),
        ("{{ [1, 2] | map('string') }}", ["1", "2"]),
        ("{{ {'a': 1} | combine({'b': 2}) }}", {"a": 1, "b": 2}),
        ("{{ {'a': 1} | dict2items }}", [{"key": "a", "value": 1}]),
        ("{{ result is succeeded }}", True),
        ("{{ l | to_json }}", '[5, "x"]'),
        ("no template", "no template"),
        ("{{ hostile }}", "{{ i }}"),
        ("{{ result.stdout }}", "{{ lookup('pipe', 'id') }}"),
    ],
)
def test_a_value_keeps_its_type(templar: Templar, source: str, value: Any) -> None:
    """A template comes to the value, with the type, that Ansible gives it."""
    rendered = templar.render(source)
    assert rendered == value
    assert type(rendered) is type(value)


def test_what_came_from_a_host_is_never_rendered(templar: Templar) -> None:
    """A literal that looks like a template stays as it is, however often it is passed on."""
    assert templar.render({"a": "{{ hostile }}", "b": ["{{ result.stdout }}"]}) == {
        "a": "{{ i }}",
        "b": ["{{ lookup('pipe', 'id') }}"],
    }


def test_an_omitted_entry_is_left_out(templar: Templar) -> None:
    """`omit` removes entries and items, and is told apart when it is the value itself."""
    value = {"a": "{{ omit }}", "b": ["{{ nowhere | default(omit) }}", 1]}
    assert templar.render(value) == {"b": [1]}
    assert templar.render("{{ omit }}") is OMIT


@pytest.mark.parametrize(
    ("value", "path", "name"),
    [
        ("{{ nowhere }}", (), "nowhere"),
        ({"a": [{"b": "{{ nowhere }}"}]}, ("a", 0, "b"), "nowhere"),
        ("{{ d.zzz + 1 }}", (), "zzz"),
        ("{{ broken }}", (), "nowhere"),
        ("{{ d }}", (), "nowhere"),
    ],
)
def test_an_unknown_name_is_named_with_its_place(
    templar: Templar, value: Any, path: tuple[Any, ...], name: str
) -> None:
    """An undefined name is a fault that says which name, and where in the value."""
    with pytest.raises(TemplateFault) as caught:
        templar.render(value)
    assert caught.value.undefined
    assert caught.value.path == path
    assert caught.value.name == name


@pytest.mark.parametrize(
    "source",
    [
        "{{ loop_a }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ l.append(1) }}",
        "{{ i | no_such_filter }}",
        "{{ 'x' is no_such_test }}",
        "{{ i",
        "{% for %}",
        "{{ 1 / 0 }}",
        "{{ text | from_json }}",
        "{{ cycler.__init__.__globals__ }}",
    ],
)
def test_a_bad_template_is_a_fault(templar: Templar, source: str) -> None:
    """Loops, attacks, unknown filters, bad syntax and bad values end as faults, nothing else."""
    with pytest.raises(TemplateFault):
        templar.render(source)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (None, True),
        ([], True),
        (True, True),
        (False, False),
        ("i == 5", True),
        ("yes and not no", True),
        (["yes", "no", "nowhere"], False),
        ("nowhere is undefined", True),
        ("'x' in l", True),
        ("result.rc == 0", True),
        ("{{ yes }}", True),
    ],
)
def test_a_condition_is_true_or_false(templar: Templar, condition: Any, holds: bool) -> None:  # noqa: FBT001
    """A condition holds as in Ansible; a list stops at its first false part."""
    assert templar.condition(condition) is holds


@pytest.mark.parametrize("condition", ["text", "0", "1", "[]", "l | length", "none", "yes and l"])
def test_a_condition_that_is_no_boolean_is_a_fault(templar: Templar, condition: str) -> None:
    """Neither numbers nor lists nor text are taken for true or false, as in Ansible 2.19."""
    with pytest.raises(TemplateFault, match="not to true or false"):
        templar.condition(condition)


def test_a_fault_in_a_list_of_conditions_says_which(templar: Templar) -> None:
    """The path of a fault leads to the part of the list."""
    with pytest.raises(TemplateFault) as caught:
        templar.condition(["yes", "nowhere"])
    assert caught.value.path == (1,)


def test_syntax_is_checked_without_values() -> None:
    """Syntax and names of filters are known before any variable is."""
    check_syntax("{{ a | default(b) }}")
    check_syntax("a == b", expression=True)
    with pytest.raises(TemplateFault, match="No filter named"):
        check_syntax("{{ a | defualt(b) }}")
    with pytest.raises(TemplateFault):
        check_syntax("a b", expression=True)
