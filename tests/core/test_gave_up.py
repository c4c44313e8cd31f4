"""What a launch goes without: every layer and change, each with the reason that is its own."""

from __future__ import annotations

from relight.core.attempt import Attempt, Failed, Recipe, refusals
from relight.core.failure import Diagnosis, Evidence, FailureClass
from relight.core.gave_up import gave_up, reason_of
from relight.core.preset import Preset

PRESET = Preset.model_validate(
    {
        "model": "m",
        "served_name": "m",
        "flags": {"size": 8, "spec": 1},
        "layers": {
            "a": {"flags": {"alpha": True}},
            "b": {"flags": {"beta": True}},
            "off": {"flags": {"gamma": True}, "enabled": False},
        },
    }
)


def failed(recipe: Recipe, failure: FailureClass, words: str) -> Attempt:
    """Return a launch that failed with these words."""
    evidence = Evidence(line=1, text=f"line: {words}")
    diagnosis = Diagnosis(failure=failure, summary=words, evidence=evidence)
    return Attempt(recipe=recipe, verdict=Failed(diagnosis=diagnosis))


def test_nothing_given_up_is_nothing_told() -> None:
    """All enabled layers and no change: not degraded; a layer that is off is not missed."""
    assert gave_up(PRESET, Recipe(layers=("a", "b")), []) == ()


def test_each_change_has_the_failure_that_it_answered() -> None:
    """Two failures, two changes: neither is told with the other's reason."""
    both = Recipe(layers=("a", "b"))
    smaller = both.model_copy(update={"changes": {"size": 4}})
    final = smaller.model_copy(
        update={"changes": {"size": 4, "spec": None}, "env": {"E": "1"}, "layers": ("a",)}
    )
    history = [
        failed(both, FailureClass.OOM_POOL, "no room"),
        failed(smaller, FailureClass.SPEC_CONFIG, "no draft"),
    ]
    told = {one.what: (one.reason, one.evidence) for one in gave_up(PRESET, final, history)}
    assert told == {
        "layer b": ("spec_config: no draft", "line: no draft"),
        "--size 4": ("set: oom_pool: no room", "line: no room"),
        "--spec": ("dropped: spec_config: no draft", "line: no draft"),
        "E=1": ("set: spec_config: no draft", "line: no draft"),
    }


def test_what_preflight_refused_is_told_with_its_reason() -> None:
    """A refusal counts more than a failure."""
    history = refusals({"b": "the build says no"})
    (one,) = gave_up(PRESET, Recipe(layers=("a",)), history)
    assert (one.what, one.reason, one.evidence) == ("layer b", "the build says no", "")


def test_a_reason_is_one_line() -> None:
    """Class, flag and words; the proof where there are no words; a request when nothing failed."""
    crash = Diagnosis(
        failure=FailureClass.CLI_ARGS, flag="--x", evidence=Evidence(line=1, text="e")
    )
    assert reason_of(crash) == "cli_args (--x): e"
    assert reason_of(Diagnosis(failure=FailureClass.UNKNOWN)) == "unknown"
    assert reason_of(None) == "left out by request"
