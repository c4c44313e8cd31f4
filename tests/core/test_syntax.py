"""Python's parser from many threads at once."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from relight.core.syntax import expression_of, module_of


@pytest.fixture
def interleaved() -> Iterator[None]:
    """Let threads take turns inside of what allocates much, as a tree under construction does."""

    def give_way(*_: object) -> None:
        time.sleep(0.0005)

    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(300)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(give_way)


def test_many_threads_parse_at_once(interleaved: None) -> None:
    """Threads that are interrupted in the middle of a tree all get theirs."""
    source = "x = f(a, b, [1, (2, 3)], {4: 5})\n" * 200
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(lambda _: module_of(source), range(12)))
        lists = list(pool.map(lambda _: expression_of(f"[{'(1, 2), ' * 200}]"), range(12)))
    assert {len(tree.body) for tree in trees} == {200}
    assert len(lists) == 12
