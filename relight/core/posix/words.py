"""Words of a shell: expanded variables and globs, with everything else kept literal."""

from __future__ import annotations

import re
import shlex

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)
_HOME = re.compile(r"~([A-Za-z_][\w.-]*)?(?=/|$)", re.ASCII)


def expanded(word: str) -> str:
    """Return a word for sh in which `$NAME` and a leading `~` stand for their values.

    A variable that is not set stays as it is written, as in Ansible's `command`.
    """
    home = _HOME.match(word)
    parts, at = ([word[: home.end()]], home.end()) if home else ([], 0)
    for found in _VARIABLE.finditer(word, at):
        name = found[1] or found[2]
        if name[0].isdigit():
            continue
        if found.start() > at:
            parts.append(shlex.quote(word[at : found.start()]))
        literal = found[0].replace("$", "\\$").replace("}", "\\}")
        parts.append(f'"${{{name}-{literal}}}"')
        at = found.end()
    if at < len(word) or not parts:
        parts.append(shlex.quote(word[at:]))
    return "".join(parts)


def glob(pattern: str) -> str:
    """Return a pattern for sh: `*`, `?`, `[...]` and a leading `~` act, everything else is text."""
    home = _HOME.match(pattern)
    parts = [pattern[: home.end()]] if home else []
    rest = pattern[home.end() :] if home else pattern
    pieces = filter(None, re.split(r"([*?\[\]])", rest))
    parts += [piece if piece in "*?[]" else shlex.quote(piece) for piece in pieces]
    return "".join(parts) or "''"


def assigned(name: str, text: str) -> str:
    """Return an assignment whose value is always in quotes."""
    inner = text.replace("'", "'\"'\"'")
    return f"{name}='{inner}'"
