"""Names the failure of one log: the earliest cause over all ranks, not its echo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from relight.core.failure import Diagnosis, Evidence, FailureClass
from relight.core.startup import Ending, Stage
from relight.engines.sglang.endings import bare, silent
from relight.engines.sglang.rule import Tier
from relight.engines.sglang.rules import RULES
from relight.engines.sglang.rules.remedies import drop_speculation
from relight.engines.sglang.suspects import Suspect, Suspects

_INDEX = {rule.name: index for index, rule in enumerate(RULES)}
_TEXT = 2000
# What no server goes on from, though no line says that its process ended.
_FATAL = frozenset({FailureClass.RUNTIME_CRASH, FailureClass.GPU_ARCH_UNSUPPORTED})
# In the draft model's frames these are the draft model's fault.
_OF_THE_DRAFT = frozenset({FailureClass.CHECKPOINT_MISMATCH, FailureClass.FLAG_CONFLICT})


@dataclass(frozen=True, slots=True)
class State:
    """How far a log came."""

    stage: Stage
    ready: bool
    serving: bool
    stopping: bool
    last: int
    arguments: Mapping[str, object]
    compiling: bool = False
    begun: bool = False


def diagnose(suspects: Suspects, ending: Ending, state: State) -> tuple[Diagnosis | None, bool]:
    """Return the diagnosis, and whether the server will not come (back) by itself."""
    dying = ending.state in {"exited", "hung"} or any(
        one.tier is Tier.ECHO or one.framed for one in suspects.found
    )
    cause = _chosen(suspects, ending, state, dying=dying)
    if cause is None:
        return silent(ending, state), ending.state == "exited"
    if cause.rule is None:
        return bare(cause), True
    return _told(cause, _raised(cause, suspects)), cause.rule.ends and (
        dying or ending.state == "unknown" or cause.rule.lasting or cause.tier is Tier.CAUSE
    )


def _chosen(suspects: Suspects, ending: Ending, state: State, *, dying: bool) -> Suspect | None:
    counted = [one for one in suspects.found if _counts(one, suspects, ending, state, dying=dying)]
    echoes = [one for one in counted if one.tier is Tier.ECHO]
    best: dict[int, Suspect] = {}
    for one in counted:
        if one.tier is Tier.ECHO:
            continue
        rival = best.get(one.incident)
        if rival is None or (one.tier, one.line) < (rival.tier, rival.line):
            best[one.incident] = one
    ranked = sorted(best.values(), key=lambda one: (_weight(one), one.incident, one.tier))
    if ranked and _weight(ranked[0]) < 3:
        return ranked[0]
    if ending.oom_killed and (echoes or not ranked):
        return None
    if echoes:
        return min(echoes, key=lambda one: (_order(one), one.line))
    if ranked:
        return ranked[0]
    if unended := suspects.unended():
        return unended[0] if ending.state != "running" else None
    final = suspects.last
    if final is not None and final.line == state.last and not state.ready:
        return final if ending.state != "running" else None
    return None


def _counts(one: Suspect, suspects: Suspects, ending: Ending, state: State, *, dying: bool) -> bool:
    if one.rule is None:
        if one.scene.serving or state.ready:
            # A traceback of one request is no failure of the server.
            return one.framed or (dying and ending.state == "exited")
        return one.framed or ending.state != "running"
    if one.rule.times > 1:
        # An excerpt without a start of its own shows the line because it matters.
        whole = state.ready or state.begun
        return suspects.counts.get(one.rule.name, 0) >= (one.rule.times if whole else 1)
    if state.ready and one.tier in {Tier.CONTEXT, Tier.FRAME} and one.scene.serving:
        fatal = one.rule.failure in _FATAL and ending.state != "running"
        return one.framed or dying or fatal or one.incident == one.line
    return True


def _weight(one: Suspect) -> int:
    if one.rule is None or one.tier is Tier.GENERIC:
        return 1
    if one.rule.ends:
        return 0
    return 4 if one.rule.failure is FailureClass.BELOW_GOAL else 2


def _order(one: Suspect) -> int:
    return _INDEX[one.rule.name] if one.rule is not None else len(_INDEX)


def _raised(cause: Suspect, suspects: Suspects) -> Suspect:
    """Return the exception that a frame belongs to: better evidence than the frame."""
    if 'File "' not in cause.text:
        return cause
    said = (one for one in suspects.found if one.rule is None and one.incident == cause.incident)
    return next(said, cause)


def _told(one: Suspect, shown: Suspect) -> Diagnosis:
    if one.rule is None or one.match is None:
        return bare(one)
    if one.rule.failure in _OF_THE_DRAFT and "draft" in one.scene.tags:
        return Diagnosis(
            failure=FailureClass.SPEC_CONFIG,
            flag="speculative-draft-model-path",
            evidence=Evidence(line=shown.line, text=shown.text[:_TEXT]),
            remedy=drop_speculation(),
            summary="the draft model cannot be set up",
        )
    return Diagnosis(
        failure=one.rule.failure,
        flag=one.rule.concerned(one.match),
        evidence=Evidence(line=shown.line, text=shown.text[:_TEXT]),
        remedy=one.rule.cure(one.match, one.scene),
        summary=one.rule.summary,
    )
