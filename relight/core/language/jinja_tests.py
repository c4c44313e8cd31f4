"""The tests of templates (`is succeeded`, `is match`, ...), under Ansible's names."""
# ruff: noqa: FBT001, FBT002  the arguments are Ansible's, positional there

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from packaging.version import InvalidVersion, Version

from relight.core.language.lazy import plain

_FALSE = frozenset({"no", "off", "false", "0", "n", "f"})
_TRUE = frozenset({"yes", "on", "true", "1", "y", "t"})
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(("==", "=", "eq"), operator.eq),
    **dict.fromkeys(("!=", "<>", "ne"), operator.ne),
    **dict.fromkeys(("<", "lt"), operator.lt),
    **dict.fromkeys(("<=", "le"), operator.le),
    **dict.fromkeys((">", "gt"), operator.gt),
    **dict.fromkeys((">=", "ge"), operator.ge),
}


def _key(name: str) -> Callable[[Any], bool]:
    def test(result: Any) -> bool:
        if not isinstance(result, Mapping):
            raise ValueError(f"the {name!r} test wants the result of a task, not {result!r}")
        return bool(result.get(name))

    return test


_failed, _skipped, _unreachable = _key("failed"), _key("skipped"), _key("unreachable")


def _changed(result: Any) -> bool:
    if _key("changed")(result):
        return True
    items = result.get("results") if "changed" not in result else None
    return isinstance(items, list) and any(
        isinstance(item, Mapping) and bool(item.get("changed")) for item in items
    )


def _regex(method: str) -> Callable[..., bool]:
    def test(
        value: Any, pattern: str = "", ignorecase: bool = False, multiline: bool = False
    ) -> bool:
        flags = (re.IGNORECASE if ignorecase else 0) | (re.MULTILINE if multiline else 0)
        return bool(getattr(re.compile(pattern, flags), method)(str(value)))

    return test


def _any_regex(
    value: Any,
    pattern: str = "",
    ignorecase: bool = False,
    multiline: bool = False,
    match_type: str = "search",
) -> bool:
    return _regex(match_type)(value, pattern, ignorecase, multiline)


def _loose(text: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|[a-z]+", text.lower())
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def _version(
    value: Any, version: Any, operator: str = "eq", strict: bool | None = None,
    version_type: str | None = None,
) -> bool:  # fmt: skip
    if str(value) == "":
        raise ValueError("an empty text is no version")
    compare = _OPERATORS.get(operator)
    if compare is None:
        raise ValueError(f"{operator!r} compares no versions: one of {', '.join(_OPERATORS)}")
    if version_type in ("pep440", "semver", "semantic", "strict") or strict:
        try:
            return compare(Version(str(value)), Version(str(version)))
        except InvalidVersion as error:
            raise ValueError(str(error)) from None
    return compare(_loose(str(value)), _loose(str(version)))


def _truthy(value: Any, convert_bool: bool = False) -> bool:
    if convert_bool and isinstance(value, str):
        if value.lower() in _FALSE:
            return False
        if value.lower() in _TRUE:
            return True
    return bool(value)


def _contains(container: Any, item: Any) -> bool:
    return item in container


def _subset(part: Iterable[Any], whole: Iterable[Any]) -> bool:
    items = list(whole)
    return all(item in items for item in part)


def _superset(whole: Iterable[Any], part: Iterable[Any]) -> bool:
    return _subset(part, whole)


def _url(value: Any, schemes: Iterable[str] | None = None) -> bool:
    matched = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://[^/\s]", str(value))
    return matched is not None and (schemes is None or matched[1].lower() in schemes)


def _not(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: not test(value)


def _strict(test: Callable[..., bool]) -> Callable[..., bool]:
    return lambda *values, **options: test(*[plain(value) for value in values], **options)


_TESTS: Mapping[str, Callable[..., bool]] = {
    **dict.fromkeys(("failed", "failure"), _failed),
    **dict.fromkeys(("succeeded", "success", "successful"), _not(_failed)),
    **dict.fromkeys(("changed", "change"), _changed),
    **dict.fromkeys(("skipped", "skip"), _skipped),
    "unreachable": _unreachable,
    "reachable": _not(_unreachable),
    "match": _regex("match"),
    "search": _regex("search"),
    "regex": _any_regex,
    **dict.fromkeys(("version", "version_compare"), _version),
    "any": any,
    "all": all,
    "truthy": _truthy,
    "falsy": lambda value, convert_bool=False: not _truthy(value, convert_bool),
    "contains": _contains,
    **dict.fromkeys(("subset", "issubset"), _subset),
    **dict.fromkeys(("superset", "issuperset"), _superset),
    "abs": lambda value: str(value).startswith("/"),
    **dict.fromkeys(("nan", "isnan"), lambda value: value != value),  # noqa: PLR0124
    "url": _url,
}

TESTS: Mapping[str, Callable[..., bool]] = {name: _strict(test) for name, test in _TESTS.items()}
