"""The filters of templates, under Ansible's names: the table of what exists besides Jinja's own."""
# ruff: noqa: FBT001, FBT002  the arguments are Ansible's, positional there

from __future__ import annotations

import base64
import functools
import hashlib
import json
import math
import posixpath
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Undefined

from relight.core.language import filters_data as data
from relight.core.language import filters_text as text
from relight.core.language import filters_yaml
from relight.core.language.lazy import plain
from relight.core.language.missing import Missing

_UUID_NAMESPACE = uuid.UUID("361E6D51-FAEC-444A-9079-341386DA8E2E")
"""Ansible's own namespace, so that the same text gives the same UUID."""


def _strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the filter with its input plain: no undefined value gets into it unnoticed."""

    @functools.wraps(function)
    def filtered(*values: Any, **options: Any) -> Any:
        return function(
            *[plain(value) for value in values],
            **{name: plain(value) for name, value in options.items()},
        )

    return filtered


def _to_json(value: Any, **options: Any) -> str:
    for name in ("vault_to_text", "preprocess_unsafe", "profile"):
        options.pop(name, None)
    if options.get("sort_keys"):
        value = _text_keys(value)
    return json.dumps(value, **options)


def _text_keys(value: Any) -> Any:
    """Return the value with keys as JSON writes them: numbers and text can be sorted then."""
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else json.dumps(key): _text_keys(item)
            for key, item in value.items()
        }
    return [_text_keys(item) for item in value] if isinstance(value, list) else value


def _to_nice_json(value: Any, indent: int = 4, sort_keys: bool = True, **options: Any) -> str:
    options.pop("separators", None)
    return _to_json(value, indent=indent, sort_keys=sort_keys, separators=(",", ": "), **options)


def _from_json(value: Any, **options: Any) -> Any:
    return json.loads(value, **options)


def _bool(value: Any) -> bool:
    if isinstance(value, bool | int):
        return value == 1
    if isinstance(value, str):
        return value.lower() in ("yes", "on", "true", "1")
    return bool(value == 1.0)


def _mandatory(value: Any, msg: str | None = None) -> Any:
    if isinstance(value, Undefined):
        name = value._undefined_name if isinstance(value, Missing) else None  # noqa: SLF001
        raise ValueError(msg or f"Mandatory variable {name!r} not defined.")
    return value


def _ternary(value: Any, true: Any, false: Any, none: Any = None) -> Any:
    if value is None and none is not None:
        return none
    return true if bool(value) else false


def _type_debug(value: Any) -> str:
    if isinstance(value, Undefined):
        return "Undefined"
    return type(plain(value)).__name__


def _hash(value: Any, hashtype: str = "sha1") -> str:
    return hashlib.new(hashtype, str(value).encode(), usedforsecurity=False).hexdigest()


def _b64encode(value: Any, encoding: str = "utf-8", urlsafe: bool = False) -> str:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    return encode(str(value).encode(encoding)).decode()


def _b64decode(value: Any, encoding: str = "utf-8", urlsafe: bool = False) -> str:
    decode = base64.urlsafe_b64decode if urlsafe else base64.b64decode
    return decode(str(value).encode()).decode(encoding)


def _path_join(paths: Any) -> str:
    return paths if isinstance(paths, str) else posixpath.join(*paths)


def _splitext(path: str) -> list[str]:
    return list(posixpath.splitext(path))


def _relpath(path: str, start: str = "/") -> str:
    return posixpath.relpath(posixpath.join("/", path), posixpath.join("/", start))


def _to_uuid(value: Any, namespace: Any = _UUID_NAMESPACE) -> str:
    return str(uuid.uuid5(uuid.UUID(str(namespace)), str(value)))


def _log(value: float, base: float = math.e) -> float:
    return math.log10(value) if base == 10 else math.log(value, base)


def _root(value: float, base: float = 2) -> float:
    return math.sqrt(value) if base == 2 else math.pow(value, 1.0 / float(base))


_STRICT: Mapping[str, Callable[..., Any]] = {
    "to_json": _to_json,
    "to_nice_json": _to_nice_json,
    "from_json": _from_json,
    "bool": _bool,
    "hash": _hash,
    **dict.fromkeys(("sha1", "checksum"), _hash),
    "md5": functools.partial(_hash, hashtype="md5"),
    "b64encode": _b64encode,
    "b64decode": _b64decode,
    "basename": posixpath.basename,
    "dirname": posixpath.dirname,
    "normpath": posixpath.normpath,
    "relpath": _relpath,
    "splitext": _splitext,
    "path_join": _path_join,
    "commonpath": posixpath.commonpath,
    "to_uuid": _to_uuid,
    "log": _log,
    "pow": math.pow,
    "root": _root,
    **data.FILTERS,
    **text.FILTERS,
    **filters_yaml.FILTERS,
}

FILTERS: Mapping[str, Callable[..., Any]] = {
    **{name: _strict(function) for name, function in _STRICT.items()},
    "extract": data.extract,
    "mandatory": _mandatory,
    "ternary": _ternary,
    "type_debug": _type_debug,
}
