"""Filters for text, with the results of Ansible's namesakes."""
# ruff: noqa: FBT001, FBT002  the arguments are Ansible's, positional there

from __future__ import annotations

import datetime as dt
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote_plus, urlsplit

_UNITS = {"Y": 1 << 80, "Z": 1 << 70, "E": 1 << 60, "P": 1 << 50, "T": 1 << 40,
          "G": 1 << 30, "M": 1 << 20, "K": 1 << 10}  # fmt: skip
_COMMENTS: Mapping[str, Mapping[str, str]] = {
    "plain": {"decoration": "# "},
    "erlang": {"decoration": "% "},
    "c": {"decoration": "// "},
    "cblock": {"beginning": "/*", "decoration": " * ", "end": " */"},
    "xml": {"beginning": "<!--", "decoration": " - ", "end": "-->"},
}


class Raw(str):
    """Text that a shell template takes as it is: quoted already, or meant as code."""

    __slots__ = ()


def _flags(*, ignorecase: bool, multiline: bool) -> int:
    return (re.IGNORECASE if ignorecase else 0) | (re.MULTILINE if multiline else 0)


def _regex_replace(
    value: Any, pattern: str = "", replacement: str = "", ignorecase: bool = False,
    multiline: bool = False, count: int = 0, mandatory_count: int = 0,
) -> str:  # fmt: skip
    compiled = re.compile(pattern, _flags(ignorecase=ignorecase, multiline=multiline))
    result, found = compiled.subn(replacement, str(value), count=count)
    if mandatory_count and mandatory_count != found:
        raise ValueError(
            f"{pattern!r} should match {mandatory_count} times, but matches {found} times"
        )
    return result


def _group(reference: str) -> str | int:
    if named := re.match(r"\\g<(\S+)>", reference):
        return named[1]
    if numbered := re.match(r"\\(\d+)", reference):
        return int(numbered[1])
    raise ValueError(f"{reference!r} names no group: write \\\\1 or \\\\g<name>")


def _regex_search(
    value: Any, pattern: str, *groups: str, ignorecase: bool = False, multiline: bool = False
) -> Any:
    names = [_group(group) for group in groups]
    flags = _flags(ignorecase=ignorecase, multiline=multiline)
    matched = re.search(pattern, str(value), flags)
    if matched is None:
        return None
    return [matched.group(name) for name in names] if names else matched.group()


def _regex_findall(
    value: Any, pattern: str, multiline: bool = False, ignorecase: bool = False
) -> list[Any]:
    flags = _flags(ignorecase=ignorecase, multiline=multiline)
    return [
        list(found) if isinstance(found, tuple) else found
        for found in re.findall(pattern, str(value), flags)
    ]


def _regex_escape(value: Any, re_type: str = "python") -> str:
    if re_type == "posix_basic":
        return re.sub(r"([].[^$*\\])", r"\\\1", str(value))
    if re_type != "python":
        raise ValueError(f"Invalid regex type ({re_type})")
    return re.escape(str(value))


def quote(value: Any) -> Raw:
    """Return the value as one word of a POSIX shell."""
    return Raw(shlex.quote("" if value is None else str(value)))


def raw(value: Any) -> Raw:
    """Return text that a shell template must not quote."""
    return Raw(value)


def _split(value: str, sep: str | None = None, maxsplit: int = -1) -> list[str]:
    return value.split(sep, maxsplit)


def _comment(text: str, style: str = "plain", **options: Any) -> str:
    if style not in _COMMENTS:
        raise ValueError(f"Invalid style {style!r}: one of {', '.join(_COMMENTS)}")
    decoration = options.get("decoration", _COMMENTS[style]["decoration"])
    parts = {
        "newline": "\n", "beginning": "", "prefix": decoration.rstrip(), "prefix_count": 1,
        "decoration": "", "postfix": decoration.rstrip(), "postfix_count": 1, "end": "",
        **_COMMENTS[style], **options,
    }  # fmt: skip
    newline = parts["newline"]
    body = parts["decoration"] + text.replace(newline, newline + parts["decoration"])
    body = body.replace(parts["decoration"] + newline, parts["decoration"].rstrip() + newline)
    prefix = parts["prefix"] if parts["prefix"] == newline else parts["prefix"] + newline
    return "".join([
        parts["beginning"] + newline if parts["beginning"] else "",
        prefix * int(parts["prefix_count"]) if parts["prefix"] else "",
        body,
        (newline + parts["postfix"]) * int(parts["postfix_count"]),
        newline + parts["end"] if parts["end"] else "",
    ])  # fmt: skip


def _human_readable(size: Any, isbits: bool = False, unit: str | None = None) -> str:
    number, base = float(size), "bits" if isbits else "Bytes"
    for suffix, factor in _UNITS.items():
        if (unit is None and number >= factor) or (unit is not None and unit[0].upper() == suffix):
            return f"{number / factor:.2f} {suffix}{base[0].lower() if isbits else base[0]}"
    return f"{number:.2f} {base}"


def _human_to_bytes(size: Any, default_unit: str | None = None, isbits: bool = False) -> int:
    matched = re.match(r"^\s*(\d*\.?\d*)\s*([A-Za-z]+)?", str(size))
    if matched is None or not matched[1]:
        raise ValueError(f"{size!r} is no size: write for example 2GB")
    unit = matched[2] or default_unit or ""
    factor = _UNITS.get(unit[:1].upper(), 1)
    wanted = "b" if isbits else "B"
    if unit and (unit[:1].upper() not in _UNITS and unit not in ("B", "b")):
        raise ValueError(f"{size!r}: {unit!r} is no unit")
    if len(unit) > 1 and unit[1] != wanted and unit[1:].lower() not in ("byte", "bytes", "bit"):
        raise ValueError(f"{size!r}: the unit should end in {wanted}")
    return round(float(matched[1]) * factor)


def _to_datetime(text: str, format: str = "%Y-%m-%d %H:%M:%S") -> dt.datetime:  # noqa: A002  Ansible's argument
    return dt.datetime.strptime(text, format)  # noqa: DTZ007  Ansible's are naive


def _strftime(pattern: str, second: float | None = None, utc: bool = False) -> str:
    zone = dt.UTC if utc else None
    if second is None:
        return dt.datetime.now(zone).strftime(pattern)
    return dt.datetime.fromtimestamp(float(second), zone).strftime(pattern)


def _urlsplit(value: str, query: str = "") -> Any:
    parts = urlsplit(value)
    found = {
        **parts._asdict(), "hostname": parts.hostname, "port": parts.port,
        "username": parts.username, "password": parts.password,
    }  # fmt: skip
    return found[query] if query else dict(sorted(found.items()))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "regex_replace": _regex_replace,
    "regex_search": _regex_search,
    "regex_findall": _regex_findall,
    "regex_escape": _regex_escape,
    "quote": quote,
    "raw": raw,
    "split": _split,
    "comment": _comment,
    "human_readable": _human_readable,
    "human_to_bytes": _human_to_bytes,
    "to_datetime": _to_datetime,
    "strftime": _strftime,
    "urldecode": unquote_plus,
    "urlsplit": _urlsplit,
}
