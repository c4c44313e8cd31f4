"""Finds the modules of a package on disk and what each of their names is bound to, unread."""
# ruff: noqa: PTH123, UP006, UP035 - no pathlib here: standard library of Python 3.9, one script

from __future__ import annotations

import ast
from typing import Dict, List, Tuple


class Unknown(Exception):
    """The source does not tell."""


class Module:
    """One module's source: its names, found when asked for."""

    def __init__(self, library: Library, dotted: str, path: str, text: str) -> None:
        self.library = library
        self.dotted = dotted
        self.package = path.endswith("__init__.py")
        self.assigned: Dict[str, ast.expr] = {}
        self.classes: Dict[str, ast.ClassDef] = {}
        self.functions: Dict[str, ast.FunctionDef] = {}
        self.imported: Dict[str, Tuple[str, str]] = {}
        self._index(ast.parse(text, path).body)

    def _index(self, body: List[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._assign(node.target, node.value)
            elif isinstance(node, ast.ClassDef):
                self.classes.setdefault(node.name, node)
            elif isinstance(node, ast.FunctionDef):
                self.functions.setdefault(node.name, node)
            elif isinstance(node, ast.ImportFrom):
                self.imports(node, self.imported)
            elif isinstance(node, (ast.If, ast.Try)):
                self._index(node.body)
                self._index(node.orelse)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.assigned.setdefault(target.id, value)

    def imports(self, node: ast.ImportFrom, into: Dict[str, Tuple[str, str]]) -> None:
        """Note what a `from ... import` binds, relative or not."""
        base = node.module or ""
        if node.level:
            parts = self.dotted.split(".")
            keep = len(parts) - node.level + (1 if self.package else 0)
            base = ".".join([*parts[:keep], *([base] if base else [])])
        for alias in node.names:
            into[alias.asname or alias.name] = (base, alias.name)


class Library:
    """The modules of one package on disk: `root` is the folder that holds the package."""

    def __init__(self, root: str, package: str) -> None:
        self.root = root
        self.package = package
        self._modules: Dict[str, Module] = {}

    def module(self, dotted: str) -> Module:
        """Return a module's source; raises Unknown when there is none."""
        if dotted not in self._modules:
            base = self.root + "/" + dotted.replace(".", "/")
            for path in (base + ".py", base + "/__init__.py"):
                try:
                    with open(path, encoding="utf-8-sig") as file:
                        text = file.read()
                except OSError:
                    continue
                self._modules[dotted] = Module(self, dotted, path, text)
                break
            else:
                raise Unknown("no source of " + dotted)
        return self._modules[dotted]
