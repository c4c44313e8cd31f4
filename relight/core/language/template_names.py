"""Which names a template surely needs: found without rendering it."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import TemplateSyntaxError, meta, nodes

from relight.core.language.jinja_tests import TESTS
from relight.core.language.templating import value_environment

_ASKING = frozenset({"default", "d", "mandatory", "ternary", "type_debug"})
"""Filters that take an undefined value for an answer, as their input or among their arguments."""


def needed(source: str, *, expression: bool = False) -> frozenset[str]:
    """Return the names without which a template (or a bare expression) fails for sure.

    Left out are names that it asks about (`is defined`, `default`), and those in a part that may
    not be evaluated: behind `and` and `or`, in the branches of `if`, in the body of `for`.
    """
    try:
        tree = value_environment().parse(f"{{{{ {source}\n}}}}" if expression else source)
    except TemplateSyntaxError:
        return frozenset()
    return frozenset(_sure(tree)) & frozenset(meta.find_undeclared_variables(tree))


def _sure(node: nodes.Node) -> Iterator[str]:
    match node:
        case nodes.Name():
            yield node.name
        case nodes.And() | nodes.Or():
            yield from _sure(node.left)
        case nodes.CondExpr() | nodes.If():
            yield from _sure(node.test)
        case nodes.For():
            yield from _sure(node.iter)
        case nodes.Macro() | nodes.CallBlock():
            return
        case nodes.Test() if node.name not in TESTS:
            return
        case nodes.Filter() if node.name in _ASKING:
            return
        case _:
            for inner in node.iter_child_nodes():
                yield from _sure(inner)
