"""What a script of relight says: lines of a name and a value, and the attributes of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

SAY = """\
say() { printf '%s %s\\n' "$1" "$2"; }
bad() { say error "$1"; exit 0; }
look() { say attributes "$(stat -c '%u %g %a %s %h %f %U %G' -- "$1")"; }
"""
"""Functions that every script begins with."""

_KINDS = {0o120000: "link", 0o040000: "directory"}


def read(text: str) -> dict[str, str]:
    """Return the values that a script said, by name; a later one wins."""
    lines = (line.partition(" ") for line in text.splitlines())
    return {name: value for name, _, value in lines if re.fullmatch(r"[a-z0-9_]+", name)}


class Answer(Protocol):
    """How a script ended: its exit status and both streams."""

    @property
    def exit(self) -> int:
        """Return the exit status."""

    @property
    def out(self) -> str:
        """Return stdout."""

    @property
    def err(self) -> str:
        """Return stderr."""


def told(answer: Answer) -> dict[str, str]:
    """Return what a script said; of one that broke off, that as its `error`."""
    said = read(answer.out)
    if answer.exit and answer.err and "error" not in said:
        said["error"] = f"the host's shell broke off: {answer.err.strip()[-300:]}"
    return said


def attributes(said: Mapping[str, str]) -> dict[str, Any]:
    """Return the attributes of a file under Ansible's names; nothing when the script said none."""
    parts = said.get("attributes", "").split(" ", 7)
    if len(parts) < 8:
        return {}
    raw = int(parts[5], 16)
    kind = _KINDS.get(raw & 0o170000) or ("hard" if int(parts[4]) > 1 else "file")
    return {
        "uid": int(parts[0]),
        "gid": int(parts[1]),
        "mode": f"0{int(parts[2], 8):03o}",
        "size": int(parts[3]),
        "owner": parts[6],
        "group": parts[7],
        "state": kind,
    }
