"""What a verdict means for the release: promote it, or roll back; the preset's policy decides."""

from __future__ import annotations

from dataclasses import dataclass

from relight.core.measure.comparison import Answer
from relight.core.measure.verdict import Verdict
from relight.core.preset import Benchmark


@dataclass(frozen=True)
class Decision:
    """Whether the release stays, and the rule that says so."""

    promote: bool
    because: str


def decide(verdict: Verdict, policy: Benchmark) -> Decision:
    """Return whether a benchmarked release is promoted.

    Better, same and not comparable promote (the gates and floors were passed), a failure never
    does; worse and inconclusive do as the preset says.
    """
    answer = verdict.answer
    if answer is Answer.FAILED:
        return Decision(promote=False, because="a failed benchmark is never promoted")
    if answer is Answer.WORSE:
        keep = policy.on_worse == "keep"
        return Decision(promote=keep, because=f"on_worse: {policy.on_worse}")
    if answer is Answer.INCONCLUSIVE:
        keep = policy.on_inconclusive == "keep"
        return Decision(promote=keep, because=f"on_inconclusive: {policy.on_inconclusive}")
    return Decision(promote=True, because=f"the verdict is {answer.value}")
