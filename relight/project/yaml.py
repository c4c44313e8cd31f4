"""YAML files read with the place of everything in them.

libyaml reads them, as it does for Ansible; what it refuses is read by ruamel.yaml, which says why.
Scalars mean what they mean to Ansible (YAML 1.1); a key is text or a whole number. Nothing is
executed, and nothing that a file holds can make this fail otherwise than with InputFaults.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml as pyyaml

from relight.errors import Fault, InputFaults
from relight.project.marks import Document
from relight.project.nodes import DEEPEST, Node, document

_QUICK = getattr(pyyaml, "CSafeLoader", None)
"""libyaml's reader, where PyYAML was built with it."""
LARGEST = 4 * 1024 * 1024
_UNPRINTABLE = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_CONTROL = r"[^\t\n\r\x20-\x7e]"  # the same of ASCII, which takes 5 ms less to compile
_OWN_WAY = "\t\x85\u2028\u2029"
"""Where libyaml takes more than YAML 1.2 has: tabs, and line breaks that no editor counts."""


def read(path: Path, shown: str) -> Document:
    """Return a file as a Document whose places say `shown`; raises InputFaults."""
    return parse(read_text(path, shown), shown)


def read_text(path: Path, shown: str) -> str:
    """Return a UTF-8 file as text; raises InputFaults."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise _one(shown, 0, 0, f"cannot be read: {error.strerror or 'not a file'}") from None
    except ValueError:
        raise _one(shown, 0, 0, "cannot be read: its name holds a NUL byte") from None
    if len(raw) > LARGEST:
        raise _one(shown, 0, 0, f"is larger than {LARGEST // 1024 // 1024} MiB")
    return decoded(raw, shown)


def decoded(raw: bytes, shown: str) -> str:
    """Return the text of a UTF-8 file; raises InputFaults at the first byte that is none."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _one(shown, 1, 1, "is UTF-16 text", "save the file as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", "replace")
        line, column = _place(before, len(before))
        raise _one(shown, line, column, "is not UTF-8 text", "save the file as UTF-8") from None
    if found := re.search(_CONTROL if text.isascii() else _UNPRINTABLE, text):
        line, column = _place(text, found.start())
        what = f"holds the control character {found[0]!r}"
        raise _one(shown, line, column, what, "remove it, or write it as an escape in quotes")
    return text


def parse(text: str, shown: str) -> Document:
    """Return YAML text as a Document; raises InputFaults with all that is wrong in it."""
    if _QUICK is not None and not any(char in text for char in _OWN_WAY):
        with contextlib.suppress(pyyaml.YAMLError):
            root = _Tree(shown).grow(pyyaml.parse(text, Loader=_QUICK))
            return document(shown, root)
    # Slower by thirty times, and it says what is wrong.
    from relight.project.yaml_syntax import events  # noqa: PLC0415 - start-up time

    return document(shown, _Tree(shown).grow(events(text, shown)))


class _Tree:
    """Grows nodes from events without recursion, so that nesting cannot break it."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._anchors: dict[str, Node] = {}
        self._open: list[tuple[Node, list[Node]]] = []
        self._root: Node | None = None

    def grow(self, events: Iterator[Any]) -> Node:
        for event in events:
            kind = type(event).__name__
            if kind in ("MappingStartEvent", "SequenceStartEvent"):
                self._begin(event, mapping=kind == "MappingStartEvent")
            elif kind in ("MappingEndEvent", "SequenceEndEvent"):
                self._end()
            elif kind == "ScalarEvent":
                quoted = event.style in ("'", '"', "|", ">")
                node = Node(_at(event), _tag(event), text=event.value, quoted=quoted)
                self._anchor(event, node)
                self._place(node)
            elif kind == "AliasEvent":
                self._place(self._alias(event))
            elif kind == "DocumentStartEvent" and self._root is not None:
                line, column = _at(event)
                what = "a second document begins here"
                raise _one(self._shown, line, column, what, "keep one document per file")
        return self._root or Node((1, 1), text="")

    def _begin(self, event: Any, *, mapping: bool) -> None:
        node = Node(_at(event), _tag(event))
        self._anchor(event, node)
        self._open.append((node, []))
        if mapping:
            node.pairs = []
        else:
            node.items = []
        if len(self._open) > DEEPEST:
            line, column = _at(event)
            what = f"the file is nested deeper than {DEEPEST} levels"
            raise _one(self._shown, line, column, what)

    def _end(self) -> None:
        node, children = self._open.pop()
        if node.pairs is None:
            node.items = children
        else:
            node.pairs = list(zip(children[::2], children[1::2], strict=True))
        self._place(node)

    def _anchor(self, event: Any, node: Node) -> None:
        if event.anchor:
            self._anchors[event.anchor] = node

    def _alias(self, event: Any) -> Node:
        line, column = _at(event)
        node = self._anchors.get(event.anchor)
        if node is None:
            what = f"the alias *{event.anchor} names nothing"
            right = f"define it above: &{event.anchor} before the value to repeat"
            raise _one(self._shown, line, column, what, right)
        if any(node is still for still, _ in self._open):
            what = f"the alias *{event.anchor} stands inside of what it repeats"
            raise _one(self._shown, line, column, what)
        return node

    def _place(self, node: Node) -> None:
        if self._open:
            self._open[-1][1].append(node)
        else:
            self._root = node


def _at(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _tag(event: Any) -> str:
    return "" if event.tag is None else str(event.tag)


def _place(text: str, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1


def _one(shown: str, line: int, column: int, what: str, right: str = "") -> InputFaults:
    return InputFaults((Fault(shown, line, column, what, right),))
