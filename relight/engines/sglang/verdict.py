"""Names the failure of one log: the earliest cause, not its echo."""

from __future__ import annotations

from collections.abc import Mapping

from relight.core.failure import Diagnosis, Evidence
from relight.core.startup import Ending, Stage
from relight.engines.sglang.suspects import Suspect, Suspects


def diagnose(
    suspects: Suspects,
    ending: Ending,
    *,
    stage: Stage,
    ready: bool,
    stopping: bool,
    last: int,
    arguments: Mapping[str, object],
) -> tuple[Diagnosis | None, bool]:
    """Return the diagnosis, and whether the engine is past help by itself."""
    for one in suspects.found:
        if one.rule is not None and one.match is not None:
            return _told(one), one.rule.ends
    return None, False


def _told(one: Suspect) -> Diagnosis:
    assert one.rule is not None and one.match is not None
    return Diagnosis(
        failure=one.rule.failure,
        flag=one.rule.concerned(one.match),
        evidence=Evidence(line=one.line, text=one.text),
        remedy=one.rule.cure(one.match, one.scene),
        summary=one.rule.summary,
    )
