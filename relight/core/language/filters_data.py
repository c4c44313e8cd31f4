"""Filters for lists and mappings, with the results of Ansible's namesakes."""
# ruff: noqa: FBT001, FBT002  the arguments are Ansible's, positional there

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from jinja2 import Environment, pass_environment

ListMerge = Literal["replace", "keep", "append", "prepend", "append_rp", "prepend_rp"]


def _merged_lists(old: list[Any], new: list[Any], how: str) -> list[Any]:
    match how:
        case "replace":
            return new
        case "keep":
            return old
        case "append":
            return old + new
        case "prepend":
            return new + old
        case "append_rp":
            return [item for item in old if item not in new] + new
        case "prepend_rp":
            return new + [item for item in old if item not in new]
        case _:
            raise ValueError(f"list_merge: {how!r} is none of replace, keep, append, prepend, ...")


def _merged(
    old: Mapping[Any, Any], new: Mapping[Any, Any], how: str, *, recursive: bool
) -> dict[Any, Any]:
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        if recursive and isinstance(before, Mapping) and isinstance(value, Mapping):
            result[key] = _merged(before, value, how, recursive=True)
        elif isinstance(before, list) and isinstance(value, list):
            result[key] = _merged_lists(before, value, how)
        else:
            result[key] = value
    return result


def combine(*terms: Any, recursive: bool = False, list_merge: ListMerge = "replace") -> Any:
    """Merge mappings; later ones win."""
    result: dict[Any, Any] = {}
    for term in flatten(list(terms), levels=1):
        if not isinstance(term, Mapping):
            raise ValueError(f"combine wants mappings, not {type(term).__name__}")
        result = _merged(result, term, list_merge, recursive=recursive)
    return result


def flatten(items: Iterable[Any], levels: int | None = None, skip_nulls: bool = True) -> list[Any]:
    """Return the items of nested lists in one list, `levels` deep."""
    result: list[Any] = []
    for item in items:
        if skip_nulls and item in (None, "None", "null"):
            continue
        if isinstance(item, list | tuple) and (levels is None or levels >= 1):
            result += flatten(item, None if levels is None else levels - 1, skip_nulls)
        else:
            result.append(item)
    return result


def _dict2items(
    mapping: Any, key_name: str = "key", value_name: str = "value"
) -> list[dict[str, Any]]:
    if not isinstance(mapping, Mapping):
        raise ValueError(f"dict2items wants a mapping, not {type(mapping).__name__}")
    return [{key_name: key, value_name: value} for key, value in mapping.items()]


def _items2dict(items: Any, key_name: str = "key", value_name: str = "value") -> dict[Any, Any]:
    try:
        return {item[key_name]: item[value_name] for item in items}
    except (KeyError, TypeError):
        raise ValueError(
            f"items2dict wants a list of mappings with the keys {key_name!r} and {value_name!r}"
        ) from None


@pass_environment
def extract(environment: Environment, item: Any, container: Any, morekeys: Any = None) -> Any:
    """Look an item up in a container, and further keys in what was found."""
    keys = [] if morekeys is None else morekeys if isinstance(morekeys, list) else [morekeys]
    value = container
    for key in (item, *keys):
        value = environment.getitem(value, key)
    return value


def _distinct(items: Iterable[Any]) -> list[Any]:
    result: list[Any] = []
    for item in items:
        if item not in result:
            result.append(item)
    return result


def _union(a: list[Any], b: list[Any]) -> list[Any]:
    return _distinct([*a, *b])


def _intersect(a: list[Any], b: list[Any]) -> list[Any]:
    return _distinct(item for item in a if item in b)


def _difference(a: list[Any], b: list[Any]) -> list[Any]:
    return _distinct(item for item in a if item not in b)


def _symmetric_difference(a: list[Any], b: list[Any]) -> list[Any]:
    return _difference(a, b) + _difference(b, a)


def _subelements(
    items: Any, path: str | list[str], skip_missing: bool = False
) -> list[tuple[Any, Any]]:
    keys = path.split(".") if isinstance(path, str) else path
    result: list[tuple[Any, Any]] = []
    for item in items.values() if isinstance(items, Mapping) else items:
        value = item
        for key in keys:
            if key not in value:
                if not skip_missing:
                    raise ValueError(f"could not find {key!r} key in iterated item {value!r}")
                value = []
                break
            value = value[key]
        if not isinstance(value, list):
            raise ValueError(f"the key {path!r} should point to a list, got {value!r}")
        result += [(item, part) for part in value]
    return result


def _rekey_on_member(data: Any, key: str, duplicates: str = "error") -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for item in data.values() if isinstance(data, Mapping) else data:
        if not isinstance(item, Mapping) or key not in item:
            raise ValueError(f"Key {key!r} was not found.")
        if item[key] in result and duplicates == "error":
            raise ValueError(f"Key {item[key]!r} is not unique, cannot convert to dict.")
        result[item[key]] = item
    return result


def _lists(function: Callable[..., Iterable[Any]]) -> Callable[..., list[list[Any]]]:
    return lambda *args, **options: [list(group) for group in function(*args, **options)]


def _zip(*lists: Iterable[Any], strict: bool = False) -> list[list[Any]]:
    return [list(group) for group in zip(*lists, strict=strict)]


FILTERS: Mapping[str, Callable[..., Any]] = {
    "combine": combine,
    "flatten": flatten,
    "dict2items": _dict2items,
    "items2dict": _items2dict,
    "union": _union,
    "intersect": _intersect,
    "difference": _difference,
    "symmetric_difference": _symmetric_difference,
    "subelements": _subelements,
    "rekey_on_member": _rekey_on_member,
    "product": _lists(itertools.product),
    "permutations": _lists(itertools.permutations),
    "combinations": _lists(itertools.combinations),
    "zip": _zip,
    "zip_longest": _lists(itertools.zip_longest),
}
