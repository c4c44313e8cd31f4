"""All rules for failures of SGLang, a file per family."""

from __future__ import annotations

import re

from relight.engines.sglang.rule import Rule
from relight.engines.sglang.rules import memory

RULES: tuple[Rule, ...] = (*memory.RULES,)
BENIGN = re.compile(r"Ignore import error")


def worth_a_look(low: str) -> bool:
    return "error" in low or "memory" in low
