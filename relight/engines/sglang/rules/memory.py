"""Rules for memory of the GPU: the stage decides which, and which way the fraction goes."""

from __future__ import annotations

from relight.core.failure import FailureClass
from relight.engines.sglang.rule import Rule
from relight.engines.sglang.rules.remedies import MORE_FOR_POOLS

RULES: tuple[Rule, ...] = (
    Rule(
        "pool.none",
        FailureClass.OOM_POOL,
        ("please try to increase --mem-fraction-static",),
        "the KV pool got no memory",
        MORE_FOR_POOLS,
    ),
)
