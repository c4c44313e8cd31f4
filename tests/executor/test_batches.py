"""Which hosts a play takes at a time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.executor.batches import batches, ordered

_SIZE = st.one_of(st.integers(1, 9), st.integers(1, 150).map("{}%".format))


@pytest.mark.parametrize(
    ("serial", "sizes"),
    [
        (None, [10]),
        (3, [3, 3, 3, 1]),
        ("30%", [3, 3, 3, 1]),
        ([1, "50%", 2], [1, 5, 2, 2]),
        ("1%", [1] * 10),
        (0, [10]),
        ("4", [4, 4, 2]),
    ],
)
def test_serial_says_how_many(serial: Any, sizes: list[int]) -> None:
    """A number, a percentage of all hosts, or a list whose last entry holds on."""
    hosts = [f"h{i}" for i in range(10)]
    assert [len(batch) for batch in batches(hosts, serial)] == sizes


@given(st.lists(st.text(), unique=True), st.one_of(_SIZE, st.lists(_SIZE)))
def test_every_host_is_in_one_batch(hosts: list[str], serial: Any) -> None:
    """No host is lost, none comes twice, and the order stays."""
    assert [host for batch in batches(hosts, serial) for host in batch] == hosts


@given(st.lists(st.text(), unique=True))
def test_order_only_orders(hosts: list[str]) -> None:
    """Whatever the order, the hosts are the same."""
    for order in ("inventory", "reverse_inventory", "sorted", "reverse_sorted", "shuffle", None):
        assert sorted(ordered(hosts, order)) == sorted(hosts)
    assert ordered(hosts, "reverse_sorted") == sorted(hosts)[::-1]
