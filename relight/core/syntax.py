"""Python's own parser, one thread at a time.

CPython counts the depth of a tree under construction once for all threads: with three hosts at once
3.11.7 raised "SystemError: AST constructor recursion depth mismatch" (seen in a deploy).
"""

from __future__ import annotations

import ast
import threading

_ONE = threading.Lock()


def module_of(source: str) -> ast.Module:
    """Return the syntax tree of a module; raises SyntaxError and ValueError as `ast.parse` does."""
    with _ONE:
        return ast.parse(source)


def expression_of(source: str) -> ast.expr:
    """Return the syntax tree of an expression; raises as `module_of` does."""
    with _ONE:
        return ast.parse(source, mode="eval").body
