"""Where in a shell script a quoted word may stand: not in quotes, comments or here-documents."""

from __future__ import annotations

import re
from typing import Literal

Place = Literal["code", "double", "single", "comment", "heredoc"]

_PLACES: dict[Place, str] = {
    "double": "double quotes",
    "single": "single quotes",
    "comment": "a comment",
    "heredoc": "a here-document",
}


class Word(str):
    """A value that is quoted for a shell already."""

    __slots__ = ()

    def __str__(self) -> str:
        return self


class ShellText:
    """A shell script as it grows, piece by piece: refuses a word where quoting protects nothing."""

    def __init__(self) -> None:
        self._place: Place = "code"
        self._ends: list[str] = []
        self._line = ""
        self._escaped = False

    def add(self, piece: str) -> None:
        """Take the next piece; raises ValueError for a `Word` in the wrong place."""
        if isinstance(piece, Word):
            if self._place != "code":
                raise ValueError(
                    f"a value stands in {_PLACES[self._place]}, where quoting does not protect: "
                    "take it out of there (relight quotes it by itself), or say | raw"
                )
            self._line += "x"
            self._escaped = False
            return
        for character in piece:
            self._step(character)

    def _step(self, character: str) -> None:
        if character == "\n":
            self._end_of_line()
            return
        if self._place == "code" and not self._escaped:
            if character == "#" and (not self._line or self._line[-1] in " \t;&|("):
                self._place = "comment"
            elif character in "\"'":
                self._place = "double" if character == '"' else "single"
        elif (self._place == "double" and character == '"' and not self._escaped) or (
            self._place == "single" and character == "'"
        ):
            self._place = "code"
        self._escaped = character == "\\" and not self._escaped and self._place != "single"
        self._line += character

    def _end_of_line(self) -> None:
        if self._place == "heredoc":
            if self._line.lstrip("\t") == self._ends[0]:
                self._ends.pop(0)
        elif self._place in ("code", "comment"):
            line = self._line
            self._ends += [
                found[1] for found in re.finditer(r"<<-?\s*[\"'\\]?([A-Za-z_]\w*)", line)
            ]
        if self._place in ("code", "comment", "heredoc"):
            self._place = "heredoc" if self._ends else "code"
        self._line, self._escaped = "", False
