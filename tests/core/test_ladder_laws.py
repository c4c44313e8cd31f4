"""The ladder's laws: they hold for every preset and every history."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relight.core.attempt import (
    Attempt,
    Failed,
    Ready,
    Recipe,
    Verdict,
    enabled_layers,
    flags_of,
)
from relight.core.failure import Diagnosis, FailureClass, Remedy
from relight.core.ladder import Launch, Promote, RollBack, Step, next_step
from relight.core.preset import Preset

PROTECTED = frozenset({"tp-size", "dtype"})
FLAGS = ("tp-size", "dtype", "mem-fraction-static", "overlap", "graphs", "text-only", "max-bs")
VALUES = st.one_of(
    st.booleans(), st.integers(1, 9), st.floats(0.1, 0.95).map(lambda x: round(x, 2))
)
FLAG_SETS = st.dictionaries(st.sampled_from(FLAGS), VALUES, min_size=1, max_size=3)
FALLBACKS = st.fixed_dictionaries(
    {"on": st.sampled_from(list(FailureClass))},
    optional={
        "drop": st.lists(st.sampled_from(FLAGS), min_size=1, max_size=2),
        "set": FLAG_SETS,
        "adjust": st.dictionaries(
            st.sampled_from(FLAGS),
            st.fixed_dictionaries(
                {
                    "by": st.floats(-0.1, 0.1).filter(bool),
                    "to": st.floats(0.1, 0.95),
                    "times": st.integers(1, 4),
                }
            ),
            min_size=1,
            max_size=2,
        ),
    },
).filter(lambda fallback: len(fallback) > 1)
PRESETS = st.builds(
    lambda flags, layers, fallbacks, attempts, minutes: Preset.model_validate(
        {
            "model": "m",
            "served_name": "m",
            "flags": flags,
            "layers": {f"layer-{n}": {"flags": body} for n, body in enumerate(layers)},
            "fallbacks": fallbacks,
            "attempts": attempts,
            "max_downtime": minutes * 60,
        }
    ),
    FLAG_SETS,
    st.lists(FLAG_SETS, max_size=4),
    st.lists(FALLBACKS, max_size=3),
    st.integers(1, 8),
    st.integers(1, 60),
)
REMEDIES = st.builds(
    Remedy,
    set=FLAG_SETS,
    env=st.sampled_from([{}, {"NCCL_P2P_DISABLE": "1"}]),
    auto=st.sampled_from(["safe", "bounded", "never"]),
)
FAILURES = st.builds(
    lambda failure, flag, remedy: Failed(
        diagnosis=Diagnosis(failure=failure, flag=flag, remedy=remedy)
    ),
    st.sampled_from(list(FailureClass)),
    st.sampled_from([None, *FLAGS]),
    REMEDIES,
)


def climb(preset: Preset, verdicts: list[Verdict]) -> tuple[list[Attempt], Step]:
    """Run the ladder against an engine that answers with these verdicts, then fails for ever."""
    attempts: list[Attempt] = []
    answers = iter(verdicts)
    last = Failed(diagnosis=Diagnosis(failure=FailureClass.UNKNOWN))
    for _ in range(100):
        step = next_step(preset, attempts, protected=PROTECTED)
        if not isinstance(step, Launch):
            return attempts, step
        attempts.append(Attempt(recipe=step.recipe, verdict=next(answers, last), seconds=30))
    raise AssertionError("the ladder did not end within 100 steps")


@given(PRESETS, st.lists(FAILURES, max_size=10))
def test_it_ends_within_the_bounds(preset: Preset, failures: list[Verdict]) -> None:
    """Whatever fails, launches stay within the preset's attempts and its downtime."""
    attempts, step = climb(preset, failures)
    assert isinstance(step, RollBack)
    assert len(attempts) <= preset.attempts
    assert sum(one.seconds for one in attempts[:-1]) < preset.max_downtime


@given(PRESETS, st.lists(FAILURES, max_size=10))
def test_no_recipe_is_launched_twice(preset: Preset, failures: list[Verdict]) -> None:
    """Two launches never have the same flags and variables: a failure is not asked for again."""
    attempts, _ = climb(preset, failures)
    seen = [(flags_of(preset, one.recipe), one.recipe.env) for one in attempts]
    assert all(one not in seen[:index] for index, one in enumerate(seen))


@given(PRESETS, st.lists(FAILURES, max_size=10))
def test_protected_flags_keep_their_values(preset: Preset, failures: list[Verdict]) -> None:
    """No fallback, remedy or adjustment changes a flag that alters results or security."""
    attempts, _ = climb(preset, failures)
    asked = flags_of(preset, Recipe(layers=enabled_layers(preset)))
    for attempt in attempts:
        launched = flags_of(preset, attempt.recipe)
        for name in PROTECTED:
            assert launched.get(name) == asked.get(name)


@given(PRESETS, st.lists(FAILURES, max_size=6), st.booleans())
def test_it_promotes_exactly_on_ready(
    preset: Preset,
    failures: list[Verdict],
    ready: bool,  # noqa: FBT001 - hypothesis gives it
) -> None:
    """The end is Promote if and only if the last verdict is Ready."""
    attempts, step = climb(preset, [*failures, Ready()] if ready else list(failures))
    last = attempts[-1].verdict if attempts else None
    assert isinstance(step, Promote) == isinstance(last, Ready)


@given(PRESETS)
def test_it_decides_from_the_history_alone(preset: Preset) -> None:
    """The same history gives the same step: nothing is remembered beside it."""
    assert next_step(preset, []) == next_step(preset, [])
