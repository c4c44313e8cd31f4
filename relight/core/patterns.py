"""Ansible's host patterns: `a:b`, `a,b`, `&c`, `!d`, globs, `~regex`, `group[0]`, `group[1:3]`.

As in Ansible (seen with 2.19) the plain parts are joined first, in the order written, then `&`
keeps, then `!` takes away, wherever they stand. Unlike there, a name that nothing has is an
error, unless the caller takes such names: but a typo in `!name`, which would otherwise deploy to
the host that it was to spare, always is one.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Callable, Iterable

from relight.core.hostrange import expand
from relight.core.inventory import Inventory
from relight.errors import UsageError

_SUBSCRIPT = re.compile(r"(?s)(.+)\[(?:(-?[0-9]+)|([0-9]+)[:-]([0-9]*))\]")
_PART = re.compile(r"(?:[^\s:\[\]]|\[[^\]]*\])+")
_GLOB = frozenset("*?[.")
_LONGEST = 4096


def hosts(inventory: Inventory, pattern: str, missing: list[str] | None = None) -> tuple[str, ...]:
    """Return the hosts that a pattern means, each once; raises UsageError in words.

    With `missing`, parts that mean nothing are added there in place of an error.
    """
    parts = split(pattern)
    if not parts:
        raise UsageError("the host pattern is empty: name a host or group, or write all")
    plain = [part for part in parts if part[0] not in "&!"] or ["all"]
    found: dict[str, None] = {}
    for part in plain:
        found |= dict.fromkeys(_some(inventory, part, missing))
    for sign in "&!":
        for part in parts:
            if part[0] == sign:
                taken = missing if sign == "&" else None
                named = set(_some(inventory, part[1:], taken))
                found = {host: None for host in found if (host in named) == (sign == "&")}
    return tuple(found)


def _some(inventory: Inventory, part: str, missing: list[str] | None) -> tuple[str, ...]:
    try:
        return _one(inventory, part)
    except UsageError:
        if missing is None:
            raise
        missing.append(part)
        return ()


def split(pattern: str) -> tuple[str, ...]:
    """Return the parts of a pattern: by commas where there are any, else by colons.

    A colon of an IPv6 address, of a port or inside of brackets does not split.
    """
    if len(pattern) > _LONGEST:
        raise UsageError("the host pattern is too long")
    if "," in pattern:
        parts = pattern.split(",")
    elif _is_address(pattern):
        parts = [pattern]
    else:
        parts = _PART.findall(pattern)
    return tuple(part.strip() for part in parts if part.strip())


def _is_address(pattern: str) -> bool:
    try:
        expand(pattern)
    except ValueError:
        return False
    return True


def _one(inventory: Inventory, part: str) -> tuple[str, ...]:
    if part in inventory.hosts:
        return (part,)
    if not part:
        raise UsageError("a host pattern has an & or ! with no name behind it")
    found = _SUBSCRIPT.fullmatch(part) if part[0] != "~" else None
    if found is None:
        return _matching(inventory, part)
    named = _matching(inventory, found[1])
    try:
        return _subscripted(named, found)
    except IndexError:
        raise UsageError(
            f"no host has the place of {part!r}: {found[1]} means {len(named)} host(s), "
            "counted from 0"
        ) from None


def _subscripted(named: tuple[str, ...], found: re.Match[str]) -> tuple[str, ...]:
    if found[2] is not None:
        return (named[int(found[2])],) if named else ()
    first, last = int(found[3]), int(found[4]) if found[4] else len(named) - 1
    if last == 0:
        return (named[first],) if named else ()
    return named[first : last + 1]


def _matching(inventory: Inventory, expression: str) -> tuple[str, ...]:
    matches = _matcher(expression)
    groups = [name for name in inventory.groups if matches(name)]
    found = dict.fromkeys(host for name in groups for host in inventory.members(name))
    if not groups or expression[0] == "~" or _GLOB & set(expression):
        found |= dict.fromkeys(host for host in inventory.hosts if matches(host))
    if not found and not groups:
        raise UsageError(_unknown(inventory, expression))
    return tuple(found)


def _matcher(expression: str) -> Callable[[str], object]:
    if expression[0] != "~":
        return re.compile(fnmatch.translate(expression)).match
    try:
        return re.compile(expression[1:]).match
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{expression!r} is no regular expression: {error}") from None


def _unknown(inventory: Inventory, expression: str) -> str:
    names = [*inventory.hosts, *inventory.groups]
    if expression[0] == "~" or _GLOB & set(expression.replace(".", "")):
        return f"no host and no group matches {expression!r}; {_listed(names)}"
    meant = difflib.get_close_matches(expression, names, n=1, cutoff=0.6)
    right = f"did you mean {meant[0]}?" if meant else _listed(names)
    return f"no host and no group is called {expression!r}; {right}"


def _listed(names: Iterable[str]) -> str:
    every = tuple(names)
    shown = ", ".join(every[:20])
    return f"there are: {shown}, ..." if len(every) > 20 else f"there are: {shown}"
