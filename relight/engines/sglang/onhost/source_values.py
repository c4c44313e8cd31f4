"""Reads values out of Python source without running it: constants, joins, enums, comprehensions.

What cannot be known from the source is `Unknown`, never guessed. Runs in the engine's own Python.
"""
# ruff: noqa: UP006, UP035, UP045, B905 - Python 3.9 runs it; values are whatever was written

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, Optional, Tuple

from relight.engines.sglang.onhost.source_files import Module, Unknown


class Symbol:
    """Something that is no value: a module, a function of another package, a builtin."""

    def __init__(self, name: str) -> None:
        self.name = name


class Member:
    """One member of an enumeration."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value


class Class:
    """A class in the source: its attributes, and its members where it is an enumeration."""

    def __init__(self, module: Module, node: ast.ClassDef) -> None:
        self.module = module
        self.node = node
        self.name = node.name
        self.enum = any("Enum" in ast.unparse(base) for base in node.bases)

    def fields(self) -> Dict[str, Tuple[Optional[ast.expr], Optional[ast.expr]]]:
        """Return every assigned name: its annotation and its value."""
        found: Dict[str, Tuple[Optional[ast.expr], Optional[ast.expr]]] = {}
        for node in self.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = (node.annotation, node.value)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = (None, node.value)
        return found

    def attribute(self, name: str) -> Any:
        """Return a class attribute's value, its own or inherited."""
        if name == "__doc__":
            return ast.get_docstring(self.node) or ""
        value = self.fields().get(name, (None, None))[1]
        if value is not None:
            return self.wrapped(name, default_of(self.module, value, self))
        for base in self.node.bases:
            parent = Reader(self.module).read(base)
            if isinstance(parent, Class):
                return parent.attribute(name)
        raise Unknown(self.name + "." + name)

    def wrapped(self, name: str, value: Any) -> Any:
        """Return a member where this is an enumeration."""
        return Member(name, value) if self.enum else value

    def members(self) -> List[Any]:
        """Return the members of an enumeration, in their order."""
        return [self.attribute(name) for name in self.fields() if not name.startswith("_")]


class Function:
    """A function in the source, followed only where its last return can be read."""

    def __init__(self, module: Module, node: ast.FunctionDef) -> None:
        self.module = module
        self.node = node
        self.name = node.name

    def result(self, arguments: List[Any]) -> Any:
        """Return what it gives back, by its straight statements alone."""
        names: Dict[str, Any] = dict(zip((a.arg for a in self.node.args.args), arguments))
        reader = Reader(self.module, names)
        result: Any = None
        for node in self.node.body:
            reader.note(node)
            if isinstance(node, ast.Return) and node.value is not None:
                result = reader.read(node.value)
        if result is None:
            raise Unknown(self.name)
        return result


def default_of(module: Module, node: ast.expr, owner: Optional[Class] = None) -> Any:
    """Return a dataclass field's default: the value, or what `field(...)` makes of it."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "field":
        for keyword in node.keywords:
            if keyword.arg == "default":
                return Reader(module, owner=owner).read(keyword.value)
            if keyword.arg == "default_factory":
                made: Dict[str, Any] = {"list": [], "dict": {}}
                name = ast.unparse(keyword.value)
                if name in made:
                    return made[name]
        raise Unknown(ast.unparse(node))
    return Reader(module, owner=owner).read(node)


def value_in(module: Module, name: str) -> Any:
    """Return what a module's name stands for."""
    if name in module.assigned:
        return Reader(module).read(module.assigned[name])
    if name in module.classes:
        return Class(module, module.classes[name])
    if name in module.functions:
        return Function(module, module.functions[name])
    if name in module.imported:
        return value_from(module, *module.imported[name])
    return Symbol(name)


def value_from(here: Module, module: str, name: str) -> Any:
    """Return what another module's name stands for; a symbol where it is another package's."""
    library = here.library
    if module.split(".", maxsplit=1)[0] != library.package:
        return Symbol(module + "." + name)
    return value_in(library.module(module), name)


def items_of(value: Any) -> List[Any]:
    """Return the items of a value that has some."""
    if isinstance(value, Class) and value.enum:
        return value.members()
    if isinstance(value, (list, dict, str)):
        return list(value)
    raise Unknown("no items")


BUILTINS: Dict[str, Callable[..., Any]] = {
    "list": list,
    "tuple": list,
    "set": lambda items=(): sorted(set(items), key=str),
    "frozenset": lambda items=(): sorted(set(items), key=str),
    "sorted": sorted,
    "len": len,
    "range": lambda *ends: list(range(*ends)),
    "str": str,
}


class Reader:
    """Evaluates expressions of one module, with the names that are bound where they stand."""

    def __init__(
        self, module: Module, names: Optional[Dict[str, Any]] = None, owner: Optional[Class] = None
    ) -> None:
        self.module = module
        self.names = names or {}
        self.owner = owner

    def note(self, node: ast.stmt) -> None:
        """Bind what a plain statement binds: an import, an assignment to a name."""
        if isinstance(node, ast.ImportFrom):
            bound: Dict[str, Tuple[str, str]] = {}
            self.module.imports(node, bound)
            for name, (module, original) in bound.items():
                try:
                    self.names[name] = value_from(self.module, module, original)
                except Unknown:
                    self.names[name] = Symbol(name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                self.names[node.targets[0].id] = self.read(node.value)
            except Unknown:
                self.names.pop(node.targets[0].id, None)

    def read(self, node: ast.expr) -> Any:
        """Return an expression's value; raises Unknown where the source does not tell."""
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise Unknown(ast.unparse(node))
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _sequence(self, elements: List[ast.expr]) -> List[Any]:
        found: List[Any] = []
        for element in elements:
            if isinstance(element, ast.Starred):
                found += items_of(self.read(element.value))
            else:
                found.append(self.read(element))
        return found

    def _list(self, node: Any) -> List[Any]:
        return self._sequence(node.elts)

    _tuple = _set = _list

    def _dict(self, node: ast.Dict) -> Dict[Any, Any]:
        found: Dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                found.update(self.read(value))
                continue
            try:
                found[self.read(key)] = self.read(value)
            except Unknown:
                found[self.read(key)] = Symbol(ast.unparse(value))
        return found

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            return self.names[node.id]
        if self.owner is not None and node.id in self.owner.fields():
            return self.owner.attribute(node.id)
        return value_in(self.module, node.id)

    def _attribute(self, node: ast.Attribute) -> Any:
        value = self.read(node.value)
        if isinstance(value, Member) and node.attr in {"name", "value"}:
            return getattr(value, node.attr)
        if isinstance(value, Class):
            return value.attribute(node.attr)
        if isinstance(value, Function) and node.attr == "__doc__":
            return ast.get_docstring(value.node, clean=False) or ""
        if isinstance(value, Symbol):
            return Symbol(value.name + "." + node.attr)
        raise Unknown(ast.unparse(node))

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.read(node.left), self.read(node.right)
        try:
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
        except TypeError:
            pass
        raise Unknown(ast.unparse(node))

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.USub):
            return -self.read(node.operand)
        raise Unknown(ast.unparse(node))

    def _joinedstr(self, node: ast.JoinedStr) -> str:
        parts: List[str] = []
        for value in node.values:
            if isinstance(value, ast.Constant):
                parts.append(str(value.value))
            elif isinstance(value, ast.FormattedValue):
                parts.append(str(self.read(value.value)))
        return "".join(parts)

    def _subscript(self, node: ast.Subscript) -> Any:
        try:
            return self.read(node.value)[self.read(node.slice)]
        except (TypeError, KeyError, IndexError):
            raise Unknown(ast.unparse(node)) from None

    def _listcomp(self, node: Any) -> List[Any]:
        return self._comprehended(node.elt, node.generators)

    _setcomp = _generatorexp = _listcomp

    def _comprehended(self, element: ast.expr, loops: List[ast.comprehension]) -> List[Any]:
        target = loops[0].target
        if len(loops) != 1 or not isinstance(target, ast.Name):
            raise Unknown(ast.unparse(element))
        found: List[Any] = []
        for item in items_of(self.read(loops[0].iter)):
            inner = Reader(self.module, {**self.names, target.id: item}, self.owner)
            if all(inner.read(test) for test in loops[0].ifs):
                found.append(inner.read(element))
        return found

    def _call(self, node: ast.Call) -> Any:
        function = node.func
        if isinstance(function, ast.Attribute):
            value = self.read(function.value)
            if isinstance(value, dict) and function.attr in {"keys", "values"}:
                return list(getattr(value, function.attr)())
            if isinstance(value, str) and function.attr in {"lower", "upper", "strip"}:
                return getattr(value, function.attr)()
            if isinstance(value, str) and function.attr == "join":
                return value.join(self.read(node.args[0]))
            raise Unknown(ast.unparse(node))
        called = self.read(function)
        arguments = [self.read(argument) for argument in node.args]
        if isinstance(called, Function):
            return called.result(arguments)
        if isinstance(called, Symbol) and called.name in BUILTINS:
            plain = [items_of(a) if isinstance(a, (Class, dict)) else a for a in arguments]
            return BUILTINS[called.name](*plain)
        raise Unknown(ast.unparse(node))
