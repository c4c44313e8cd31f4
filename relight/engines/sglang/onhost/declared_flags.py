"""Lists the flags of an installed SGLang from its source: names, type, choices, default, aliases.

Two styles are read: `parser.add_argument(...)` in ServerArgs.add_cli_args (0.5.10 to 0.5.15), and
fields `name: A[T, Arg(...)]` of the classes that server_args lists in _INPUT_NAMESPACES (0.5.23).
Runs in the engine's own Python.
"""
# ruff: noqa: UP006, UP035, UP045 - Python 3.9 runs it; values are whatever was written

from __future__ import annotations

import ast
from typing import Any, Dict, List, Optional, Tuple

from relight.engines.sglang.onhost.source_files import Library, Module, Unknown
from relight.engines.sglang.onhost.source_values import (
    Class,
    Function,
    Member,
    Reader,
    Symbol,
    default_of,
    value_in,
)

Flag = Dict[str, Any]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; what is no value becomes {"expr": its name}."""
    if isinstance(value, (Symbol, Class, Function)):
        return {"expr": value.name}
    if isinstance(value, Member):
        return value.value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def known(reader: Reader, node: ast.expr) -> Any:
    """Return an expression's plain value, or {"expr": its text} where it is not known."""
    try:
        return plain(reader.read(node))
    except (Unknown, RecursionError, TypeError, KeyError, IndexError, AttributeError):
        return {"expr": ast.unparse(node)}


def name_of(value: Any) -> Optional[str]:
    """Return the last part of a name: `argparse.BooleanOptionalAction` -> the action."""
    if isinstance(value, dict):
        value = value.get("expr")
    return value.split(".")[-1] if isinstance(value, str) else None


def flag_of(names: List[str], dest: str, given: Dict[str, Any]) -> Flag:
    """Return one flag from the keywords that argparse would get."""
    action = name_of(given.get("action")) or "store"
    nargs = given.get("nargs")
    default = given.get("default")
    deprecated = action.startswith("Deprecated")
    if action == "BooleanOptionalAction":
        names = names + ["--no-" + name[2:] for name in names if name.startswith("--")]
    if action in {"store_true", "store_false", "BooleanOptionalAction"} or (
        deprecated and "nargs" not in given and "AliasStore" not in action
    ):
        nargs = 0
    if action in {"store_true", "DeprecatedStoreTrueAction"} and "default" not in given:
        default = False
    text = given.get("help")
    text = text.lower() if isinstance(text, str) else ""
    return {
        "names": names,
        "dest": dest,
        "type": name_of(given.get("type")),
        "choices": given.get("choices"),
        "default": default,
        "nargs": nargs,
        "required": bool(given.get("required")),
        "deprecated": deprecated or "deprecated" in text.split(".")[0] or "deprecated:" in text,
        "instead": given.get("new_flag"),
    }


def argument(call: ast.Call, reader: Reader) -> Flag:
    """Return the flag that an `add_argument` call declares."""
    names = [reader.read(word) for word in call.args]
    given = {keyword.arg: known(reader, keyword.value) for keyword in call.keywords if keyword.arg}
    first = next((name for name in names if name.startswith("--")), names[0])
    dest = given.get("dest") or first.lstrip("-").replace("-", "_")
    return flag_of(names, dest, given)


def optional(node: ast.expr) -> ast.expr:
    """Return the type inside Optional[T], Union[T, None] or T | None."""
    if isinstance(node, ast.Subscript):
        head = ast.unparse(node.value).split(".")[-1]
        if head == "Optional":
            return node.slice
        if head == "Union" and isinstance(node.slice, ast.Tuple):
            rest = [part for part in node.slice.elts if ast.unparse(part) != "None"]
            return rest[0] if len(rest) == 1 else node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [side for side in (node.left, node.right) if ast.unparse(side) != "None"]
        return sides[0] if len(sides) == 1 else node
    return node


def basic(node: ast.expr) -> str:
    """Return the name of the conversion that SGLang infers for a type."""
    name = ast.unparse(node)
    return name if name in {"str", "int", "float"} else "str"


def annotated(
    node: Optional[ast.expr], reader: Reader
) -> Optional[Tuple[ast.expr, Dict[str, ast.expr]]]:
    """Return the type and the keywords of `A[T, Arg(...)]` or `A[T, "help"]`; None if neither."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return None
    if ast.unparse(node.value).split(".")[-1] not in {"A", "Annotated"}:
        return None
    for extra in node.slice.elts[1:]:
        if isinstance(extra, ast.Call) and ast.unparse(extra.func).split(".")[-1] == "Arg":
            given = {keyword.arg: keyword.value for keyword in extra.keywords if keyword.arg}
            if extra.args:
                given.setdefault("help", extra.args[0])
            return node.slice.elts[0], given
        if isinstance(known(reader, extra), str):
            return node.slice.elts[0], {"help": extra}
    return None


def field(
    name: str, annotation: Optional[ast.expr], value: Optional[ast.expr], module: Module
) -> Optional[Flag]:
    """Return the flag that a field of a namespace class declares, if it declares one."""
    reader = Reader(module)
    found = annotated(annotation, reader)
    if found is None:
        return None
    kind, nodes = found
    meta = {key: known(reader, node) for key, node in nodes.items()}
    if meta.get("no_cli") is True:
        return None
    given: Dict[str, Any] = {"help": meta.get("help")}
    if value is not None:
        try:
            given["default"] = plain(default_of(module, value))
        except Unknown:
            given["default"] = {"expr": ast.unparse(value)}
    names = [meta.get("cli_name") or "--" + name.replace("_", "-"), *(meta.get("aliases") or [])]
    if "action" in meta:
        given["action"] = meta["action"]
        given.update(meta.get("action_kwargs") or {})
        return flag_of(names, name, given)
    inner = optional(kind)
    head = ast.unparse(inner.value).split(".")[-1] if isinstance(inner, ast.Subscript) else ""
    parser = name_of(meta.get("type_parser"))
    if head == "Literal" and isinstance(inner, ast.Subscript):
        words = inner.slice.elts if isinstance(inner.slice, ast.Tuple) else [inner.slice]
        values = [known(reader, word) for word in words]
        given["choices"] = meta.get("choices") or values
        inferred = type(values[0]).__name__
        given["type"] = parser or (inferred if inferred in {"int", "float"} else "str")
    elif head in {"List", "list"} and parser is None and isinstance(inner, ast.Subscript):
        given.update(type=basic(inner.slice), nargs=meta.get("nargs") or "+")
        given["choices"] = meta.get("choices")
    elif ast.unparse(inner) == "bool":
        given["action"] = "store_true"
    else:
        given.update(type=parser or basic(inner), choices=meta.get("choices"))
        given["nargs"] = meta.get("nargs")
        wanted = meta.get("required")
        given["required"] = wanted is True or (wanted is None and value is None)
    return flag_of(names, name, given)


def order_of(library: Library) -> List[str]:
    """Return the order in which 0.5.23 registers its fields."""
    try:
        module = library.module("sglang.srt.arg_groups.field_order")
        return list(value_in(module, "POSITIONAL_FIELD_ORDER"))
    except (Unknown, TypeError):
        return []


class DeclaredDefault(Reader):
    """A reader that also knows `_declared_default("name")`: what a field's default is."""

    fields: Dict[str, Tuple[Module, Optional[ast.expr], Optional[ast.expr]]] = {}

    def _call(self, node: ast.Call) -> Any:
        if ast.unparse(node.func) == "_declared_default":
            module, _, value = self.fields[self.read(node.args[0])]
            if value is None:
                raise Unknown(ast.unparse(node))
            return default_of(module, value)
        return super()._call(node)


def declared(library: Library) -> List[Flag]:
    """Return every flag, in the order in which the parser gets them."""
    module = library.module("sglang.srt.server_args")
    owner = Class(module, module.classes["ServerArgs"])
    spaces = [owner]
    if "_INPUT_NAMESPACES" in module.assigned:
        spaces += value_in(module, "_INPUT_NAMESPACES")
    fields = {
        name: (space.module, annotation, value)
        for space in spaces
        for name, (annotation, value) in space.fields().items()
    }
    adder = next(
        node
        for node in owner.node.body
        if isinstance(node, ast.FunctionDef) and node.name == "add_cli_args"
    )
    reader = DeclaredDefault(module)
    reader.fields = fields
    flags: List[Flag] = []
    for node in adder.body:
        reader.note(node)
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        called = ast.unparse(node.value.func).split(".")[-1]
        if called == "add_argument":
            flags.append(argument(node.value, reader))
        elif called == "add_cli_args_from_dataclass":
            first = [name for name in order_of(library) if name in fields]
            for name in dict.fromkeys([*first, *fields]):
                home, annotation, value = fields[name]
                flag = field(name, annotation, value, home)
                if flag is not None:
                    flags.append(flag)
    return flags
