"""Scripts that run on a host, in the engine's own Python (3.9 or later, standard library only)."""

from __future__ import annotations

import ast
from functools import cache
from importlib.resources import files

from relight.core.syntax import module_of


@cache
def text_of(*modules: str) -> str:
    """Return modules of this package as one script, the parts before those that use them."""
    return "from __future__ import annotations\n" + "".join(_body(name) for name in modules)


def _body(name: str) -> str:
    """Return a module's source without the imports that only this package has."""
    source = (files(__name__) / f"{name}.py").read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    for node in module_of(source).body:
        module = node.module if isinstance(node, ast.ImportFrom) else None
        if module == "__future__" or (module or "").startswith("relight."):
            for index in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[index] = "\n"
    return "".join(lines)
