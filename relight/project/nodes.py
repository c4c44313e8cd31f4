"""From YAML's tree to plain data: tags, merge keys, duplicate keys, aliases, and the places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from relight.core.language.literal import Literal
from relight.errors import Fault, InputFaults
from relight.project.marks import Document, Key, Mark, Trail
from relight.project.scalars import plain

Place = tuple[int, int]
_CORE = "tag:yaml.org,2002:"
_MOST_NODES = 200_000
DEEPEST = 60


@dataclass
class Node:
    """One value as YAML wrote it: a scalar (`text`), a list (`items`) or a mapping (`pairs`)."""

    place: Place
    tag: str = ""
    text: str | None = None
    quoted: bool = False
    items: list[Node] | None = None
    pairs: list[tuple[Node, Node]] | None = None


def document(file: str, root: Node) -> Document:
    """Return a tree as data with places; raises InputFaults with all that is wrong in it."""
    builder = _Builder(file)
    data = builder.value(root, (), root.place, literal=False)
    if builder.faults:
        raise InputFaults(tuple(builder.faults))
    return Document(file, data, builder.marks, builder.oddities)


@dataclass
class _Builder:
    file: str
    marks: dict[Trail, Mark] = field(default_factory=dict)
    oddities: dict[Trail, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    made: int = 0

    def fault(self, place: Place, what: str, right: str = "") -> None:
        self.faults.append(Fault(self.file, *place, what, right))

    def value(self, node: Node, trail: Trail, key: Place, *, literal: bool) -> Any:
        self.made += 1
        if self.made > _MOST_NODES or len(trail) > DEEPEST:
            deep = f"is nested deeper than {DEEPEST} levels"
            what = deep if len(trail) > DEEPEST else "is too large once its aliases are followed"
            raise InputFaults((*self.faults, Fault(self.file, *node.place, f"the file {what}")))
        nothing = node.text == "" and not node.quoted and not node.tag
        self.marks[trail] = Mark(key, key if nothing else node.place)
        literal = literal or node.tag == "!unsafe"
        if node.items is not None:
            self._tag(node, "seq", "a list")
            return [
                self.value(item, (*trail, index), item.place, literal=literal)
                for index, item in enumerate(node.items)
            ]
        if node.pairs is not None:
            self._tag(node, "map", "a mapping")
            return self._mapping(node, trail, literal=literal)
        return self._scalar(node, trail, literal=literal)

    def _mapping(self, node: Node, trail: Trail, *, literal: bool) -> dict[Key, Any]:
        own: dict[Key, Any] = {}
        merged: list[Node] = []
        first: dict[Key, Place] = {}
        for key_node, value_node in node.pairs or ():
            if key_node.text == "<<" and not key_node.quoted and not key_node.tag:
                merged += self._merged(value_node)
                continue
            key = self._key(key_node)
            if key is None:
                continue
            if key in first:
                self.fault(
                    key_node.place,
                    f"the key {key!r} stands twice in this mapping, first in line {first[key][0]}",
                    "keep one of them",
                )
                continue
            first[key] = key_node.place
            own[key] = self.value(value_node, (*trail, key), key_node.place, literal=literal)
        if not merged:
            return own
        below: dict[Key, Any] = {}
        for source in merged:
            below |= self._inherited(source, trail, {*own, *below})
        return {**below, **own}

    def _inherited(self, source: Node, trail: Trail, taken: set[Key]) -> dict[Key, Any]:
        """Return what a merged mapping gives: its keys that nobody before it has."""
        pairs = [
            (key, value)
            for key, value in source.pairs or ()
            if key.text == "<<" or plain_key(key) not in taken
        ]
        kept = Node(source.place, source.tag, pairs=pairs)
        outer = self.marks[trail]
        data = self.value(kept, trail, outer.key, literal=False)
        self.marks[trail] = outer
        return {key: value for key, value in data.items() if key not in taken}

    def _merged(self, node: Node) -> list[Node]:
        sources = [node] if node.items is None else node.items
        for source in sources:
            if source.pairs is None:
                self.fault(source.place, "`<<` merges mappings only", "name a mapping: <<: *name")
        return [source for source in sources if source.pairs is not None]

    def _key(self, node: Node) -> Key | None:
        if node.text is None:
            braces = node.pairs is not None
            self.fault(
                node.place,
                "a list or mapping cannot be a key",
                'a value that begins with {{ must be quoted: "{{ ... }}"' if braces else "",
            )
            return None
        key = plain_key(node)
        if key == "" and not node.quoted:
            self.fault(node.place, "a key is empty", "write a name before the colon")
            return None
        return key

    def _scalar(self, node: Node, trail: Trail, *, literal: bool) -> Any:
        text = node.text or ""
        if node.tag in ("!unsafe", _CORE + "str", "!") or (not node.tag and node.quoted):
            return Literal(text) if literal else text
        if not node.tag:
            value, oddity = plain(text)
            if oddity:
                self.oddities[trail] = oddity
            return Literal(value) if literal and isinstance(value, str) else value
        return self._tagged(node, text)

    def _tagged(self, node: Node, text: str) -> Any:
        kinds: dict[str, Any] = {
            "int": int,
            "float": float | int,
            "bool": bool,
            "null": type(None),
        }
        kind = node.tag.removeprefix(_CORE)
        if node.tag.startswith(_CORE) and kind in kinds:
            value: Any = plain(text)[0]
            if not isinstance(value, kinds[kind]):
                self.fault(node.place, f"{_short(text)} is no {kind}", "drop the tag, or the value")
                return None
            return float(value) if kind == "float" else value
        self._unknown_tag(node)
        return None

    def _tag(self, node: Node, kind: str, words: str) -> None:
        if node.tag not in ("", "!", "!unsafe", _CORE + kind):
            self._unknown_tag(node, words)

    def _unknown_tag(self, node: Node, words: str = "text") -> None:
        if node.tag in ("!vault", "!vault-encrypted"):
            self.fault(
                node.place,
                "Ansible Vault values are not read",
                "write a reference instead: {env: NAME}, {file: PATH} or {command: ...}",
            )
        else:
            shown = node.tag.replace(_CORE, "!!")
            self.fault(
                node.place,
                f"the tag {_short(shown)} is not known here",
                f"write plain {words}; only !unsafe is understood",
            )


def plain_key(node: Node) -> Key:
    """Return a key: text, except that an unquoted whole number is one (`on` is the word on)."""
    text = node.text or ""
    if node.quoted or node.tag not in ("", _CORE + "int"):
        return text
    value, _ = plain(text)
    return value if isinstance(value, int) and not isinstance(value, bool) else text


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
