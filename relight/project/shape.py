"""What a model expects at a place inside of it: which keys, and whether a boolean."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from relight.project.marks import Key, Trail


def keys_at(model: Any, trail: Iterable[Key]) -> tuple[str, ...]:
    """Return the keys that the models expected at a place know, in their order."""
    names: dict[str, None] = {}
    for kind in _at(model, trail):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            names |= dict.fromkeys(kind.model_fields)
    return tuple(names)


def stray_booleans(model: Any, data: Any, trail: Trail = ()) -> Iterator[Trail]:
    """Return the places where true or false stands for a number, which pydantic lets pass."""
    if not isinstance(data, bool | Mapping | list):
        return
    kinds = tuple(_flat(model))
    if isinstance(data, bool):
        if bool not in kinds and (int in kinds or float in kinds):
            yield trail
    elif isinstance(data, Mapping):
        for key, item in data.items():
            for kind in _under(kinds, key):
                yield from stray_booleans(kind, item, (*trail, key))
    elif isinstance(data, list):
        for index, item in enumerate(data):
            for kind in _under(kinds, index):
                yield from stray_booleans(kind, item, (*trail, index))


def _at(model: Any, trail: Iterable[Key]) -> tuple[Any, ...]:
    kinds = tuple(_flat(model))
    for key in trail:
        kinds = tuple(flat for kind in _under(kinds, key) for flat in _flat(kind))
    return kinds


def _under(kinds: Iterable[Any], key: Key) -> Iterator[Any]:
    for kind in kinds:
        origin = get_origin(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(str(key))
            if field is not None:
                yield field.annotation
        elif isinstance(origin, type) and issubclass(origin, Mapping):
            yield get_args(kind)[1]
        elif origin in (tuple, list, set, frozenset):
            yield get_args(kind)[0]


def _flat(kind: Any) -> Iterator[Any]:
    """Return the members of a union, without annotations."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _flat(get_args(kind)[0])
    elif origin in (Union, types.UnionType):
        for member in get_args(kind):
            yield from _flat(member)
    else:
        yield kind
