"""Which names a template surely needs: found without rendering it."""

from __future__ import annotations

from jinja2 import TemplateSyntaxError, meta, nodes

from relight.core.language.templating import value_environment

_ASKING = ("default", "d", "mandatory")
_MAYBE = (nodes.CondExpr, nodes.And, nodes.Or, nodes.If)


def needed(source: str) -> frozenset[str]:
    """Return the names without which a template fails; those that it asks about are not needed.

    Where a part may not be evaluated (`if`, `and`, `or`), nothing is said.
    """
    try:
        tree = value_environment().parse(source)
    except TemplateSyntaxError:
        return frozenset()
    if next(tree.find_all(_MAYBE), None) is not None:
        return frozenset()
    asked: set[str] = set()
    for test in tree.find_all(nodes.Test):
        if test.name in ("defined", "undefined"):
            asked |= _names(test.node)
    for filtered in tree.find_all(nodes.Filter):
        if filtered.name in _ASKING and filtered.node is not None:
            asked |= _names(filtered.node)
    return frozenset(meta.find_undeclared_variables(tree)) - asked


def _names(node: nodes.Node) -> set[str]:
    own = {node.name} if isinstance(node, nodes.Name) else set()
    return own | {name.name for name in node.find_all(nodes.Name)}
