"""Why text is no YAML, and where: what ruamel.yaml makes of it, in words for who wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from relight.errors import Fault, InputFaults

_BRACES = re.compile(r"\s*(?:- +)*(?:[^\s'\"#:][^'\"#:]*: +)?\{\{")
_SLIPS = (ValueError, RecursionError, AttributeError, IndexError, TypeError, KeyError)
"""What ruamel.yaml lets through on some broken input, such as %YAML lines and escapes."""
_HINTS = (
    (r"\\t|tab", "indent with spaces: YAML allows no tabs there"),
    (r"mapping values are not allowed", 'quote a value that holds ": ", and check the indentation'),
    (r"expected <block end>", "check the indentation of this line against the lines above it"),
    (r"never closed", "close the quote or bracket"),
    (r"no key with a colon", "write `key: value`, or indent a text that goes on"),
    (r"expected ',' or", "put a comma between items, and close the bracket"),
    (r"cannot start any token", "quote the value"),
    (r"unknown escape", "use single quotes where \\ stands for itself"),
)


def events(text: str, shown: str) -> Iterator[Any]:
    """Yield the events of YAML text; raises InputFaults where it is none."""
    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except MarkedYAMLError as error:
        raise _syntax(error, text, shown) from None
    except YAMLError as error:
        raise _one(shown, 1, 1, f"is no YAML: {str(error).splitlines()[0]}") from None
    except _SLIPS as error:
        raise _one(shown, 1, 1, f"is no YAML that can be read ({type(error).__name__})") from None


def _syntax(error: MarkedYAMLError, text: str, shown: str) -> InputFaults:
    problem = " ".join(str(error.problem or "syntax error").split())
    mark = error.problem_mark or error.context_mark
    unclosed = re.search(r"end of stream|<stream end>|expected ',' or '.', but got ':'", problem)
    if unclosed:
        mark = _opened(text) or error.context_mark or mark
        problem = "what is opened here is never closed"
    elif "could not find expected ':'" in problem and error.context_mark is not None:
        mark = error.context_mark
        problem = "this is no key with a colon behind it"
    elif error.context and error.context_mark is not None:
        problem = f"{problem}, {error.context} from line {error.context_mark.line + 1} on"
    line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
    lines = text.splitlines()
    braces = _BRACES.match(lines[line - 1]) if line <= len(lines) else None
    if braces is not None:
        what = "YAML syntax: {{ without quotes begins a mapping here, not a template"
        return _one(shown, line, braces.end() - 1, what, 'quote the whole value: "{{ ... }}"')
    return _one(shown, line, column, f"YAML syntax: {problem}", _hint(problem))


def _opened(text: str) -> Any:
    """Return the mark of the innermost bracket that is still open where the text fails."""
    opened: list[Any] = []
    try:
        for token in YAML(typ="safe", pure=True).scan(text):
            kind = type(token).__name__
            if kind in ("FlowSequenceStartToken", "FlowMappingStartToken"):
                opened.append(token.start_mark)
            elif kind in ("FlowSequenceEndToken", "FlowMappingEndToken") and opened:
                opened.pop()
    except MarkedYAMLError as error:
        return error.context_mark
    except (YAMLError, *_SLIPS):
        return None
    return opened[-1] if opened else None


def _hint(problem: str) -> str:
    for pattern, hint in _HINTS:
        if re.search(pattern, problem):
            return hint
    return ""


def _one(shown: str, line: int, column: int, what: str, right: str = "") -> InputFaults:
    return InputFaults((Fault(shown, line, column, what, right),))
