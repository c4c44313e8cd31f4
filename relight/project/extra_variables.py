"""Extra variables (`-e`): key=value, JSON or YAML in braces, @file; stronger than all files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from relight.errors import Fault, InputFaults
from relight.project.files import Files
from relight.project.marks import written_in_a_command_line
from relight.project.variables import Variables, of_document
from relight.project.wording import short
from relight.project.yaml import parse

_OPTION = "--extra-vars"
_WORD = re.compile(
    r"""(?:[^\s'"{\\]|\{\{.*?\}\}|\{%.*?%\}|\{|"(?:\\.|[^"\\])*"|'[^']*'|\\.)+""", re.DOTALL
)
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"|\'([^\']*)\'', re.DOTALL)


def read(words: Iterable[str], files: Files) -> Variables:
    """Return what the options say, later ones first to win; faults are taken down in `files`."""
    merged: Variables = {}
    for word in words:
        if word.startswith("@"):
            document = files.mapping(files.expanded(word[1:]), "a file of variables")
        else:
            try:
                data = _data(word)
            except InputFaults as error:
                files.add(error.faults)
                continue
            document = written_in_a_command_line(_OPTION, data)
        if document is not None:
            found, faults = of_document(document)
            files.add(faults)
            merged |= found
    return merged


def _data(word: str) -> dict[str | int, object]:
    if word.lstrip().startswith(("{", "[")):
        data = parse(word, _OPTION).data
        if not isinstance(data, dict):
            raise _fault(f"{short(word)} is no mapping", 'write {"name": value}')
        return data
    found: dict[str | int, object] = {}
    if _WORD.sub("", word).strip():
        raise _fault(f"{short(word)} has a quote that is never closed", "close it")
    for part in _WORD.findall(word):
        name, equals, value = part.partition("=")
        if not equals:
            right = "write name=value, @FILE for a file, or a mapping in braces"
            raise _fault(f"{short(part)} sets no variable", right)
        found[name] = _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    """Return a value without the quotes around it; quotes inside of a template stay."""
    whole = _QUOTED.fullmatch(value)
    if whole is None:
        return value
    if whole[2] is not None:
        return whole[2]
    return re.sub(r"\\(.)", r"\1", whole[1])


def _fault(what: str, right: str) -> InputFaults:
    return InputFaults((Fault(_OPTION, 0, 0, what, right),))
