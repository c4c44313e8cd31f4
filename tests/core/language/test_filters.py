"""Filters and tests of templates beyond what the comparison with ansible-core covers."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.language.filters import FILTERS
from relight.core.language.templating import Templar, TemplateFault

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(_JSON)
def test_json_goes_there_and_back(value: Any) -> None:
    """`to_json` and `from_json` undo each other."""
    assert Templar({}, {"v": value}).render("{{ v | to_json | from_json }}") == value


@given(st.text())
def test_quote_is_one_word(text: str) -> None:
    """`quote` gives one word of a shell, whatever the text."""
    assert shlex.split(Templar({}, {"v": text}).render("{{ v | quote }}")) == [text]


@given(st.dictionaries(st.text(), st.integers()))
def test_dict2items_is_undone_by_items2dict(mapping: dict[str, int]) -> None:
    """A mapping survives being a list."""
    assert Templar({}, {"v": mapping}).render("{{ v | dict2items | items2dict }}") == mapping


@pytest.mark.parametrize(
    "expression",
    [
        "5 | dict2items",
        "[1] | items2dict",
        "'x' | from_json",
        "'2 parsecs' | human_to_bytes",
        "{'a': 1} | combine([5])",
        "'a' | regex_search('(', '\\\\1')",
        "'a' | comment('no such style')",
        "'' is version('1', '>')",
        "'1' is version('1', 'near')",
        "5 is failed",
        "nowhere | to_json",
        "nowhere is changed",
        "{'a': nowhere} | to_json",
    ],
)
def test_a_bad_value_is_a_fault(expression: str) -> None:
    """A filter or test that cannot do its work says so as a fault of the template."""
    with pytest.raises(TemplateFault):
        Templar({}).expression(expression)


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_no_filter_takes_an_undefined_value_for_a_real_one(name: str) -> None:
    """Whatever the filter, an undefined input is not passed on as if it were something."""
    if name in ("type_debug", "ternary"):
        return
    with pytest.raises(TemplateFault):
        Templar({}).render(f"{{{{ nowhere | {name} }}}}")


@pytest.mark.parametrize(
    ("how", "result"),
    [
        ("replace", [2, 3]), ("keep", [1, 2]), ("append", [1, 2, 2, 3]),
        ("prepend", [2, 3, 1, 2]), ("append_rp", [1, 2, 3]), ("prepend_rp", [2, 3, 1]),
    ],
)  # fmt: skip
def test_lists_merge_as_they_are_told(how: str, result: list[int]) -> None:
    """`list_merge` knows Ansible's six ways."""
    source = f"{{{{ {{'l': [1, 2]}} | combine({{'l': [2, 3]}}, list_merge='{how}') }}}}"
    assert Templar({}).render(source) == {"l": result}
