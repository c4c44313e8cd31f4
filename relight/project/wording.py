"""What pydantic's complaints are called in plain words, and what was meant by a misspelt name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

_SECRET = re.compile(
    r"(?<![a-z])token(?![a-z])|secret|passw|credential|api[_-]?key|private[_-]?key(?!_file)",
    re.IGNORECASE,
)
_WANTS = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_sub_type": "text",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
    "set_type": "a list",
    "none_required": "nothing",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than_equal": "a number of at least {ge}",
    "greater_than": "a number above {gt}",
    "less_than_equal": "a number of at most {le}",
    "less_than": "a number below {lt}",
    "string_too_short": "at least {min_length} character(s)",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "text of the form {pattern}",
    "too_short": "at least {min_length} item(s)",
    "too_long": "at most {max_length} items",
}


def wanted(error: Mapping[str, Any]) -> str | None:
    """Return what an error of pydantic wants, `a whole number`; None when it says it itself."""
    form = _WANTS.get(error["type"])
    if form is None:
        return None
    words = form.format_map(error.get("ctx", {}))
    if error["type"] in ("literal_error", "enum") and "," in words:
        return f"one of {words.replace(' or ', ', ')}"
    return words


def got(value: Any, name: object = "") -> str:
    """Return a value for a person: short, escaped, and never the value of a secret."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if is_secret(name):
        return "a value that is not shown"
    if isinstance(value, int | float):
        return f"the number {short(str(value))}"
    return short(repr(str(value)))


def is_secret(name: object) -> bool:
    """Return whether a name looks like a secret's."""
    return _SECRET.search(str(name)) is not None


def short(text: str, most: int = 60) -> str:
    """Return a text cut to a line's length."""
    return text if len(text) <= most else text[: most - 3] + "..."


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant."""
    names = {str(candidate).lower(): str(candidate) for candidate in known}
    spelt = str(name).lower()
    for variant in (spelt, spelt.replace("-", "_"), spelt.replace("_", "-")):
        if variant in names and names[variant] != name:
            return names[variant]
    close = difflib.get_close_matches(spelt, list(names), n=1, cutoff=0.6)
    return names[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], what: str = "known") -> str:
    """Return the advice for a name that does not exist: the close one, else all of them."""
    names = tuple(known)
    meant = closest(name, names)
    if meant is not None:
        return f"did you mean {meant}?"
    if not names:
        return f"{what}: none"
    shown = ", ".join(names[:20])
    return f"{what}: {shown}, ..." if len(names) > 20 else f"{what}: {shown}"
