"""Reads the `server_args=` line: what SGLang made of its command line, without secrets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from relight.core.syntax import expression_of

Argument = str | int | float | bool | None | list[object]

_SECRET = re.compile(r"api_?key|password|secret|token$|credential|ssl_keyfile", re.IGNORECASE)
_LONGEST = 400
_MOST = 800


def arguments_of(message: str) -> dict[str, object]:
    """Return the arguments of a `server_args=ServerArgs(a=1, ...)` or `server_args={'a': 1}` line.

    0.5.10 to 0.5.15 print the dataclass, 0.5.23 a mapping. Values that are no literals stay text;
    a line that was cut yields what stands before the cut. Names of secrets are left out.
    """
    text = message.partition("server_args=")[2].strip()
    pairs = list(_parsed(text)) or list(_torn(text))
    return {name: value for name, value in pairs[:_MOST] if not is_secret(name)}


class Arguments(Mapping[str, object]):
    """The arguments of one `server_args=` message, read when somebody asks: most logs never do."""

    def __init__(self, message: str = "") -> None:
        self._message = message
        self._known: dict[str, object] | None = None

    def _read(self) -> dict[str, object]:
        if self._known is None:
            self._known = arguments_of(self._message)
            self._message = ""
        return self._known

    def __getitem__(self, name: str) -> object:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def is_secret(name: str) -> bool:
    """Return whether an argument's value is a secret, by its name."""
    return _SECRET.search(name.replace("-", "_")) is not None


def _parsed(text: str) -> Iterator[tuple[str, object]]:
    try:
        tree = expression_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    if isinstance(tree, ast.Call):
        for keyword in tree.keywords:
            if keyword.arg:
                yield keyword.arg, _value(keyword.value)
    elif isinstance(tree, ast.Dict):
        for key, value in zip(tree.keys, tree.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, _value(value)


def _value(node: ast.expr) -> object:
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ast.unparse(node)[:_LONGEST]
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    return value


_PAIR = re.compile(r"""['"]?(\w+)['"]?\s*(?:=|:)\s*""")
_SCALAR = re.compile(
    r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(True|False|None)|(-?[\d.]+(?:e-?\d+)?)"""
)


def _torn(text: str) -> Iterator[tuple[str, object]]:
    """Yield the plain values of a line that does not parse: cut, or with objects' addresses."""
    at = 0
    while (name := _PAIR.search(text, at)) is not None:
        at = name.end()
        value = _SCALAR.match(text, at)
        if value is None:
            continue
        at = value.end()
        single, double, word, number = value.groups()
        if word is not None:
            yield name.group(1), {"True": True, "False": False, "None": None}[word]
        elif number is not None:
            try:
                yield (
                    name.group(1),
                    float(number) if "." in number or "e" in number else int(number),
                )
            except ValueError:
                continue
        else:
            yield name.group(1), (single if single is not None else double)[:_LONGEST]
