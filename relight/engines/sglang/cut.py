"""Cuts a byte stream into the lines that were logged: bars, glued lines and lines without end."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

LIMIT = 256 * 1024
"""Characters of one line that are kept; the `server_args=` line has 40,000, a prompt more."""

# A logger's line may be glued to the end of a bar, or to another rank's line without its newline.
_STAMP = re.compile(r"\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d")


# What others put before each line: docker compose, Kubernetes, journald, Python's logging, Ray.
_WRAPPED = re.compile(
    r"(?:[\w.-]+ *\| "
    r"|\[\d{4}-\d\d-\d\dT[^\]]+\] \S+ >> "
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?"
    r"|[A-Z][a-z]{2} [ \d]\d [\d:]{8} \S+ [^:\s\[]+(?:\[\d+\])?: "
    r"|\d{4}-\d\d-\d\d [\d:]{8},\d{3} - \S+ - [A-Z]+ - "
    r"|\d\d-\d\d [\d:]{8}\.\d{3} "
    r"|\d{1,4}: (?=[\[T ])"
    r"|\(\w+ pid=\d+[^)]*\) )+"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Cut(NamedTuple):
    """One logged line: its number, counted from 1 by newlines, and its text."""

    number: int
    text: str


class LineCutter:
    """Keeps what has no end yet, never more than `LIMIT` bytes of it."""

    def __init__(self) -> None:
        self._rest = b""
        self._number = 1
        self._skipping = False

    def feed(self, data: bytes) -> list[Cut]:
        """Return the lines that are whole now; a carriage return ends one as a newline does."""
        if self._rest:
            data = self._rest + data
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        self._rest = data[end:]
        cuts = self._lines(data[:end]) if end else []
        if len(self._rest) > LIMIT:
            if not self._skipping:
                cuts += self._pieces(self._rest[:LIMIT].decode("utf-8", "replace"))
                self._skipping = True
            self._rest = b""
        return cuts

    def close(self) -> list[Cut]:
        """Return what is left as the last line."""
        rest, self._rest = self._rest, b""
        if self._skipping or not rest:
            return []
        return self._pieces(rest.decode("utf-8", "replace"))

    def _lines(self, block: bytes) -> list[Cut]:
        text = block.decode("utf-8", "replace")
        cuts: list[Cut] = []
        for line in text.split("\n")[:-1] if text.endswith("\n") else text.split("\n"):
            self._line(line, cuts)
            self._number += 1
        if not text.endswith("\n"):
            self._number -= 1
        return cuts

    def _line(self, line: str, cuts: list[Cut]) -> None:
        if self._skipping:
            # The tail of a line that was cut; its head has been given already.
            self._skipping = False
            _, mark, line = line.partition("\r")
            if not mark:
                return
        if "\r" in line:
            for part in line.split("\r"):
                if part:
                    cuts += self._pieces(part)
        elif line:
            if line.find("[20", 1) > 0 or "\x1b" in line:
                cuts += self._pieces(line)
            else:
                cuts.append(Cut(self._number, unwrapped(line)[:LIMIT]))

    def _pieces(self, line: str) -> list[Cut]:
        if "\x1b" in line:
            line = _COLOUR.sub("", line)
        starts = [found.start() for found in _STAMP.finditer(line, 1)] if "[20" in line else []
        edges = [0, *starts, len(line)]
        return [
            Cut(self._number, unwrapped(line[start:stop])[:LIMIT])
            for start, stop in pairwise(edges)
            if line[start:stop].strip()
        ]


def unwrapped(line: str) -> str:
    """Return a line without what a log collector put before it."""
    if line[0] in " \t" or (line[0] == "[" and line[11:12] != "T"):
        return line
    found = _WRAPPED.match(line)
    return line[found.end() :] if found else line
