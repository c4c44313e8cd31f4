"""Load and model answers of several versions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure.loads import running_now, served_models

LOADS = [
    ([{"dp_rank": None, "num_reqs": 2, "num_waiting_reqs": 0}], 2),
    ({"loads": [{"num_running_reqs": 1, "num_total_reqs": 3}], "aggregate": {"total_reqs": 3}}, 3),
    ({"loads": [{"num_running_reqs": 1}, {"num_running_reqs": 2}]}, 3),
    ({"detail": "Not Found"}, None),
    ("", None),
    ([{"num_reqs": "many"}], None),
]


@pytest.mark.parametrize(("answer", "expected"), LOADS)
def test_running_requests(answer: Any, expected: int | None) -> None:
    """The shapes of /get_load and /v1/loads, and anything else as unknown."""
    assert running_now(answer) == expected


def test_served_models() -> None:
    """The names of /v1/models; anything else lists none."""
    assert served_models({"data": [{"id": "a"}, {"id": 3}, "x"]}) == ("a",)
    assert served_models(None) == ()


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(ANY)
def test_anything_is_survived(answer: Any) -> None:
    """No answer of a host makes the reading fail."""
    running_now(answer)
    served_models(answer)
