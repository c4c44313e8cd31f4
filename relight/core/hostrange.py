"""Host names with ranges: `box[01:10]`, `gpu-[a:c]`, `n[1:9:2]`, and a port behind a colon."""

from __future__ import annotations

import ipaddress
import itertools
import re
import string

_RANGE = re.compile(r"\[([^\[\]:]*):([^\[\]:]*)(?::([^\[\]:]*))?\]")
_PORT = re.compile(r"(?P<host>.*[^:]):(?P<port>[0-9]+)", re.DOTALL)
_BRACKETED = re.compile(r"\[(?P<host>[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)\](?::(?P<port>[0-9]+))?")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,240}")
_MOST = 10_000


def expand(written: str) -> tuple[tuple[str, ...], int | None]:
    """Return the host names that an inventory's entry means, and the port that it names.

    Raises ValueError, in words for a person, for a range that is none and for a name that a
    shell, ssh or a pattern could take for something else.
    """
    name, port = _split_port(written)
    names = _ranges(name)
    for one in names:
        if not _NAME.fullmatch(one) and not _is_ipv6(one):
            raise ValueError(
                f"{_short(written)} is no host name: letters, digits, dots, - and _, "
                "beginning with a letter or digit"
            )
    return names, port


def _split_port(written: str) -> tuple[str, int | None]:
    if found := _BRACKETED.fullmatch(written):
        return found["host"], int(found["port"]) if found["port"] else None
    found = _PORT.fullmatch(written)
    if found is None or (":" in _RANGE.sub("", found["host"])) or "[" in found["port"]:
        return written, None
    if found["host"].count("[") != found["host"].count("]"):
        return written, None
    return found["host"], int(found["port"])


def _ranges(name: str) -> tuple[str, ...]:
    pieces: list[tuple[str, ...]] = []
    at, size = 0, 1
    for found in _RANGE.finditer(name):
        values = _range(found[0], found[1] or "0", found[2], found[3])
        pieces += [(name[at : found.start()],), values]
        at, size = found.end(), size * len(values)
        if size > _MOST:
            raise ValueError(f"{_short(name)} means more than {_MOST} hosts")
    pieces.append((name[at:],))
    return tuple("".join(parts) for parts in itertools.product(*pieces))


def _range(written: str, begin: str, end: str, step: str | None) -> tuple[str, ...]:
    if not end:
        raise ValueError(f"the range {written} has no end: write for example [01:10]")
    if step is not None and not re.fullmatch(r"[1-9][0-9]{0,5}", step):
        raise ValueError(f"the step of the range {written} is no whole number above 0")
    by = int(step or 1)
    letters = string.ascii_letters
    if len(begin) == len(end) == 1 and begin in letters and end in letters:
        first, last = letters.index(begin), letters.index(end)
        found = tuple(letters[first : last + 1 : by])
    elif re.fullmatch(r"[0-9]{1,9}", begin) and re.fullmatch(r"[0-9]{1,9}", end):
        padded = len(begin) > 1 and begin[0] == "0"
        if padded and len(begin) != len(end):
            raise ValueError(
                f"the range {written} pads its begin with zeros: write the end as wide as it"
            )
        numbers = range(int(begin), int(end) + 1, by)
        if len(numbers) > _MOST:
            raise ValueError(f"the range {written} means more than {_MOST} hosts")
        found = tuple(str(n).zfill(len(begin) if padded else 0) for n in numbers)
    else:
        raise ValueError(f"the range {written} wants two numbers or two letters")
    if not found:
        raise ValueError(f"the range {written} ends before it begins")
    return found


def _is_ipv6(text: str) -> bool:
    try:
        return ":" in text and ipaddress.IPv6Address(text).scope_id is None
    except ValueError:
        return False


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
