"""Arguments written in one string: `copy: src=a dest=b`, `command: make creates=out`."""

from __future__ import annotations

import re
from collections.abc import Container

_KEY = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OPEN, _CLOSE = ("{{", "{%", "{#"), ("}}", "%}", "#}")


def words(text: str) -> list[str]:
    """Return the words of a string; quotes and braces of Jinja hold blanks together.

    Raises ValueError when a quote or a brace stays open. The quotes stay in the words.
    """
    found: list[str] = []
    word, quote, depth, index = "", "", 0, 0
    while index < len(text):
        pair, character = text[index : index + 2], text[index]
        if not quote and pair in _OPEN:
            depth, word, index = depth + 1, word + pair, index + 2
            continue
        if not quote and depth and pair in _CLOSE:
            depth, word, index = depth - 1, word + pair, index + 2
            continue
        if character == "\\" and not depth and index + 1 < len(text):
            word, index = word + pair, index + 2
            continue
        if not depth and character in "\"'" and quote in ("", character):
            quote = "" if quote else character
        if character.isspace() and not quote and not depth:
            if word:
                found.append(word)
            word = ""
        else:
            word += character
        index += 1
    if quote or depth:
        raise ValueError(f"{quote or '{{'} is never closed")
    return [*found, word] if word else found


def unquoted(text: str) -> str:
    """Return a value without the pair of quotes around it."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" and text[-2] != "\\":
        return text[1:-1]
    return text


def key_values(text: str) -> dict[str, str]:
    """Return `a=1 b='x y'` as a mapping; raises ValueError for a word without `=`."""
    result: dict[str, str] = {}
    for word in words(text):
        matched = _KEY.fullmatch(word)
        if matched is None:
            raise ValueError(f"{word!r} is no key=value")
        result[matched[1]] = unquoted(matched[2])
    return result


def command_and_options(text: str, options: Container[str]) -> tuple[str, dict[str, str]]:
    """Return a command line without its `creates=...` and the like, and those."""
    found: dict[str, str] = {}
    rest = text
    for word in reversed(words(text)):
        matched = _KEY.fullmatch(word)
        if matched is None or matched[1] not in options:
            continue
        at = rest.rfind(word)
        found[matched[1]] = unquoted(matched[2])
        rest = rest[:at] + rest[at + len(word) :]
    return (rest.strip() if found else text), found
