"""Takes known secret values out of any text that is shown or kept."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "[hidden]"
_SHORTEST = 4
"""A shorter value would take whole words out of every text, and so tell what it is."""


class Scrubber:
    """Replaces secret values, as they are and in the forms in which programs print them.

    Forms: JSON and Python strings, shell quotes, URLs, base64 (also as a part of something longer,
    such as `user:secret`), hexadecimal, and each line of a value of several lines.
    """

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values for form in _forms(value)}
        # The longest first: a secret may hold another one.
        alternatives = "|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form))))
        self._pattern = re.compile(alternatives) if alternatives else None

    def __call__(self, text: str) -> str:
        """Return the text without any of the values."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def __repr__(self) -> str:
        return "Scrubber()"


def _forms(value: str) -> set[str]:
    parts = {value, value.strip(), *(line.strip() for line in value.splitlines())}
    forms: set[str] = set()
    for part in parts:
        if len(part) >= _SHORTEST:
            forms |= {part, *_spellings(part)}
    return {form for form in forms if len(form) >= _SHORTEST}


def _spellings(text: str) -> set[str]:
    raw = text.encode("utf-8", "surrogatepass")
    quoted = {
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(text)[1:-1])[1:-1],
        repr(text)[1:-1],
        text.replace("'", "'\\''"),
        shlex.quote(text).strip("'"),
        text.replace("\\", "\\\\").replace('"', '\\"'),
        quote(raw, safe=""),
        quote(raw, safe="").replace("%2F", "/"),
        quote_plus(raw),
        re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quote(raw, safe="")),
        raw.hex(),
        raw.hex().upper(),
    }
    return quoted | _base64(raw)


def _base64(raw: bytes) -> set[str]:
    """Return what base64 shows of the bytes at each of the three offsets at which they may lie."""
    forms: set[str] = set()
    for offset, first in enumerate((0, 2, 3)):
        encoded = base64.b64encode(b"\0" * offset + raw).decode("ascii")
        # A character that bytes before or after the secret decide as well is left out.
        inner = encoded[first : len(encoded) - (0, 3, 2)[(offset + len(raw)) % 3]]
        forms |= {inner, encoded, encoded.rstrip("=")} if offset == 0 else {inner}
    forms |= {form.replace("+", "-").replace("/", "_") for form in forms}
    return {form for form in forms if len(form) >= 2 * _SHORTEST}
