"""Version texts as numbers that compare."""

from __future__ import annotations

import re


def release_numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: `0.5.12.post1` -> (0, 5, 12); empty for none."""
    match = re.match(r"\d+(?:\.\d+)*", version.strip().lstrip("v"))
    return tuple(int(part) for part in match.group().split(".")) if match else ()
