"""YAML in templates: PyYAML's text and YAML 1.1's values, as in Ansible."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.language.templating import Templar, TemplateFault

_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def _come_to(template: str, value: Any) -> Any:
    return Templar({}, {"v": value}).render(template)


@given(_PLAIN)
def test_what_was_written_is_read_again(value: Any) -> None:
    """Both ways of writing keep every value, whatever its text looks like."""
    for written in ("to_yaml", "to_nice_yaml"):
        assert _come_to(f"{{{{ v | {written} | from_yaml }}}}", value) == value


def test_values_are_those_of_yaml_1_1() -> None:
    """`yes` is true, 010 is 8, and a date is text."""
    found = _come_to("{{ v | from_yaml }}", "a: [yes, 010, 2024-01-02, '5', null]")
    assert found == {"a": [True, 8, "2024-01-02", "5", None]}


def test_several_documents() -> None:
    """`from_yaml` wants one, `from_yaml_all` takes all."""
    text = "a: 1\n---\nb: 2\n"
    assert _come_to("{{ v | from_yaml_all }}", text) == [{"a": 1}, {"b": 2}]
    with pytest.raises(TemplateFault, match="several documents"):
        _come_to("{{ v | from_yaml }}", text)


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "!!python/object/apply:os.system ['touch /tmp/never']",
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n"
            for n in range(8)
        ),
        "[" * 5000,
    ],
    ids=["broken", "code", "aliases on aliases", "deep"],
)
def test_hostile_text_is_a_fault(text: str) -> None:
    """What a host answers may be anything: nothing runs, and no memory is eaten up."""
    with pytest.raises(TemplateFault, match="from_yaml"):
        _come_to("{{ v | from_yaml }}", text)
