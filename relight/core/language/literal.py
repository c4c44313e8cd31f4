"""Text that is never a template: what YAML's `!unsafe` marks."""

from __future__ import annotations


class Literal(str):
    """A text that stands for itself, braces and all."""

    __slots__ = ()
