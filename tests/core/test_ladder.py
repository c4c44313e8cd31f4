"""The ladder: laws that hold for every preset and every history, and the cases that taught it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.attempt import (
    Attempt,
    Failed,
    Ready,
    Recipe,
    Refused,
    Verdict,
    enabled_layers,
    first_recipe,
    flags_of,
    refusals,
)
from relight.core.failure import Diagnosis, FailureClass, Remedy
from relight.core.ladder import Launch, Promote, RollBack, Step, next_step
from relight.core.preset import Layer, Preset

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


LAYERED = Preset.model_validate(
    {
        "model": "m",
        "served_name": "m",
        "flags": {"mem-fraction-static": 0.8, "tp-size": 2},
        "layers": {
            "graphs": {"flags": {"graphs": True}},
            "overlap": {"flags": {"overlap": True}},
            "text-only": {"flags": {"text-only": True}},
        },
    }
)


def failed(failure: FailureClass, flag: str | None = None, **more: object) -> Failed:
    """Return a verdict."""
    return Failed(diagnosis=Diagnosis.model_validate({"failure": failure, "flag": flag, **more}))


def test_a_refused_layer_is_not_launched() -> None:
    """What preflight refused is left out of the first launch."""
    refusal = Attempt(recipe=Recipe(), verdict=Refused(layers=("overlap",), reason="r"))
    step = next_step(LAYERED, [refusal])
    assert isinstance(step, Launch)
    assert step.recipe.layers == ("graphs", "text-only")


def test_the_blamed_layer_goes_first() -> None:
    """A failure that names a flag of a layer drops that layer, wherever it stands."""
    first = Attempt(
        recipe=Recipe(layers=("graphs", "overlap", "text-only")),
        verdict=failed(FailureClass.FLAG_CONFLICT, "--overlap"),
    )
    step = next_step(LAYERED, [first])
    assert isinstance(step, Launch)
    assert step.recipe.layers == ("graphs", "text-only")


@pytest.mark.parametrize("guilty", ["graphs", "overlap", "text-only"])
def test_a_crash_that_names_nothing_finds_the_guilty_layer(guilty: str) -> None:
    """With three layers on, the one that crashes is found, and the innocent ones are kept."""
    attempts: list[Attempt] = []
    for _ in range(LAYERED.attempts + 1):
        step = next_step(LAYERED, attempts)
        if isinstance(step, Promote):
            break
        assert isinstance(step, Launch)
        crashed = guilty in step.recipe.layers
        verdict = failed(FailureClass.GRAPH_CAPTURE) if crashed else Ready()
        attempts.append(Attempt(recipe=step.recipe, verdict=verdict, seconds=1))
    assert isinstance(attempts[-1].verdict, Ready)
    assert set(attempts[-1].recipe.layers) == set(LAYERED.layers) - {guilty}


def test_two_guilty_layers_end_without_any() -> None:
    """When no single layer explains it, all layers go, and the server comes up."""
    attempts: list[Attempt] = []
    while not isinstance(step := next_step(LAYERED, attempts), Promote):
        assert isinstance(step, Launch)
        crashed = len(step.recipe.layers) > 1
        verdict = failed(FailureClass.UNKNOWN) if crashed else Ready()
        attempts.append(Attempt(recipe=step.recipe, verdict=verdict, seconds=1))
    assert attempts[-1].recipe.layers == ()


@pytest.mark.parametrize(
    "failure", [FailureClass.MODEL_ACCESS, FailureClass.PORT_IN_USE, FailureClass.HOST_RESOURCES]
)
def test_hopeless_failures_cost_no_second_launch(failure: FailureClass) -> None:
    """A failure that no optional flag causes goes straight back to known-good."""
    first = Attempt(recipe=Recipe(layers=("graphs",)), verdict=failed(failure))
    assert isinstance(next_step(LAYERED, [first]), RollBack)


def test_a_base_flag_that_is_refused_by_name_costs_no_layer() -> None:
    """When the engine names a flag that no layer brought, giving up layers would not help."""
    first = Attempt(
        recipe=Recipe(layers=("graphs", "overlap")),
        verdict=failed(FailureClass.CLI_ARGS, "--mem-fraction-static"),
    )
    assert isinstance(next_step(LAYERED, [first]), RollBack)


def test_a_safe_remedy_adds_its_flag() -> None:
    """A remedy that is safe is applied before layers are given up."""
    remedy = {"set": {"disable-custom-all-reduce": True}, "auto": "safe"}
    first = Attempt(
        recipe=Recipe(layers=("graphs",)),
        verdict=failed(FailureClass.P2P_ALLREDUCE, remedy=remedy),
    )
    step = next_step(LAYERED, [first])
    assert isinstance(step, Launch)
    assert step.recipe.changes == {"disable-custom-all-reduce": True}
    assert step.recipe.layers == ("graphs",)


def test_a_refused_value_is_replaced_before_the_first_launch() -> None:
    """What preflight knows to fail is not launched: the value that served before is."""
    known = Refused(changes={"mem-fraction-static": 0.7, "tp-size": 1}, env={"A": "b"}, reason="r")
    step = next_step(LAYERED, refusals({"overlap": "o"}, [known]), protected=PROTECTED)
    assert isinstance(step, Launch)
    assert step.recipe.layers == ("graphs", "text-only")
    assert step.recipe.changes == {"mem-fraction-static": 0.7}
    assert step.recipe.env == {"A": "b"}


def test_a_refused_layer_that_holds_a_protected_flag_rolls_back() -> None:
    """Giving it up would change what may never change: nothing is launched."""
    preset = LAYERED.model_copy(
        update={"layers": {**LAYERED.layers, "half": Layer(flags={"dtype": "half"})}}
    )
    step = next_step(preset, refusals({"half": "r"}), protected=PROTECTED)
    assert step == RollBack(reason="what preflight refused holds dtype, which is never given up")


def test_layers_left_out_by_request_are_not_launched() -> None:
    """`without` and `enabled: false` keep a layer out from the first launch on."""
    step = next_step(LAYERED, [], without=frozenset({"graphs"}))
    assert isinstance(step, Launch)
    assert step.recipe.layers == ("overlap", "text-only")
    off = LAYERED.model_copy(update={"layers": {"graphs": Layer(flags={"g": 1}, enabled=False)}})
    assert first_recipe(off, ()).layers == ()


def test_a_layer_that_was_blamed_does_not_come_back() -> None:
    """After one layer was named, a crash that names nothing is looked for among the others."""
    every = ("graphs", "overlap", "text-only")
    history = [
        Attempt(recipe=Recipe(layers=every), verdict=failed(FailureClass.CLI_ARGS, "text-only")),
        Attempt(recipe=Recipe(layers=every[:2]), verdict=failed(FailureClass.GRAPH_CAPTURE)),
    ]
    step = next_step(LAYERED, history)
    assert isinstance(step, Launch)
    assert step.recipe.layers == ("graphs",)
    history.append(Attempt(recipe=step.recipe, verdict=failed(FailureClass.GRAPH_CAPTURE)))
    step = next_step(LAYERED, history)
    assert isinstance(step, Launch)
    assert step.recipe.layers == ("overlap",)


def test_the_last_launch_is_not_spent_on_a_guess() -> None:
    """With more layers than launches, the last one goes without any layer."""
    preset = LAYERED.model_copy(update={"attempts": 3})
    attempts: list[Attempt] = []
    while isinstance(step := next_step(preset, attempts), Launch):
        verdict = failed(FailureClass.UNKNOWN)
        attempts.append(Attempt(recipe=step.recipe, verdict=verdict, seconds=1))
    assert [one.recipe.layers for one in attempts] == [
        ("graphs", "overlap", "text-only"),
        ("graphs", "overlap"),
        (),
    ]


def test_a_remedy_drops_a_layer_but_no_base_flag() -> None:
    """What the engine would drop goes when a layer brought it; a base flag stays."""
    remedy = {"drop": ["overlap", "mem-fraction-static"], "auto": "bounded"}
    first = Attempt(
        recipe=Recipe(layers=("graphs", "overlap")),
        verdict=failed(FailureClass.SPEC_CONFIG, remedy=remedy),
    )
    step = next_step(LAYERED, [first])
    assert isinstance(step, Launch)
    assert step.recipe == Recipe(layers=("graphs",))
    bare = Attempt(recipe=Recipe(), verdict=failed(FailureClass.SPEC_CONFIG, remedy=remedy))
    assert isinstance(next_step(LAYERED, [bare]), RollBack)


def test_a_flag_that_is_false_is_no_other_launch() -> None:
    """`graphs: false` gives the command line that failed already: it is not launched again."""
    preset = Preset.model_validate(
        {
            "model": "m",
            "served_name": "m",
            "fallbacks": [{"on": "unknown", "set": {"graphs": False}}],
        }
    )
    first = Attempt(recipe=Recipe(), verdict=failed(FailureClass.UNKNOWN))
    assert isinstance(next_step(preset, [first]), RollBack)


def test_fallbacks_find_flags_under_their_aliases() -> None:
    """A fallback that drops or sets an alias changes the flag that the preset wrote."""
    preset = Preset.model_validate(
        {
            "model": "m",
            "served_name": "m",
            "flags": {"algo": "x", "steps": 3},
            "fallbacks": [{"on": "spec_config", "drop": ["algorithm"], "set": {"count": 1}}],
        }
    )
    names = {"algorithm": "algo", "count": "steps"}
    first = Attempt(recipe=Recipe(), verdict=failed(FailureClass.SPEC_CONFIG))
    step = next_step(preset, [first], canonical=lambda name: names.get(name, name))
    assert isinstance(step, Launch)
    assert step.recipe.changes == {"algo": None, "steps": 1}
    assert flags_of(preset, step.recipe) == {"steps": 1}


def test_a_refusal_after_a_ready_launch_launches_nothing() -> None:
    """A history that does not end in Ready is no promotion, and Ready is no failure to answer."""
    history = [Attempt(recipe=Recipe(), verdict=Ready()), *refusals({"graphs": "r"})]
    assert isinstance(next_step(LAYERED, history), RollBack)


def test_nothing_more_is_launched_when_the_time_is_used_up() -> None:
    """The downtime so far, not the number of launches, ends it."""
    first = Attempt(
        recipe=Recipe(layers=("graphs",)), verdict=failed(FailureClass.UNKNOWN), seconds=1800
    )
    step = next_step(LAYERED, [first])
    assert step == RollBack(reason="the preset's max_downtime is used up")


BRACKETED = Preset.model_validate(
    {
        "model": "m",
        "served_name": "m",
        "flags": {"mem-fraction-static": 0.8},
        "attempts": 12,
        "fallbacks": [
            {"on": "oom_pool", "adjust": {"mem-fraction-static": {"by": 0.04, "to": 0.95}}},
            {
                "on": "oom_graph_capture",
                "adjust": {"mem-fraction-static": {"by": -0.03, "to": 0.5}},
            },
        ],
    }
)


def test_opposite_failures_close_a_bracket() -> None:
    """Too small at 0.80, too large at 0.84: the middle is tried, nothing beyond either end."""
    attempts: list[Attempt] = []
    values: list[float] = []
    while isinstance(step := next_step(BRACKETED, attempts), Launch):
        value = flags_of(BRACKETED, step.recipe)["mem-fraction-static"]
        assert isinstance(value, float)
        values.append(value)
        failure = FailureClass.OOM_POOL if value < 0.82 else FailureClass.OOM_GRAPH_CAPTURE
        attempts.append(Attempt(recipe=step.recipe, verdict=failed(failure), seconds=1))
    assert isinstance(step, RollBack)
    assert values[:2] == [0.8, 0.84]
    assert all(0.8 <= value <= 0.84 for value in values)
    assert len(values) == len(set(values))
