"""Python's parser from many threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from relight.core.syntax import expression_of, module_of


def test_many_threads_parse_at_once() -> None:
    """Eight threads that parse deep text all get their trees."""
    deep = "(" * 60 + "1" + ")" * 60
    source = f"x = {deep}\n" * 50
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(lambda _: module_of(source), range(64)))
        values = list(pool.map(lambda _: expression_of("[" * 60 + "]" * 60), range(64)))
    assert {len(tree.body) for tree in trees} == {50}
    assert len(values) == 64
