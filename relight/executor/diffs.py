"""A change as unified text, for `--diff`."""

from __future__ import annotations

import difflib

from relight.core.outcome import Diff


def unified(diff: Diff) -> str:
    """Return the change in the form of `diff -u`."""
    lines = difflib.unified_diff(
        diff.before.splitlines(), diff.after.splitlines(),
        f"before: {diff.path}", f"after: {diff.path}", lineterm="",
    )  # fmt: skip
    return "\n".join(lines)
