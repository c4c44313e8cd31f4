"""The ladder: the cases that taught it."""

from __future__ import annotations

import pytest

from relight.core.attempt import (
    Attempt,
    Failed,
    Ready,
    Recipe,
    Refused,
    first_recipe,
    flags_of,
    refusals,
)
from relight.core.failure import Diagnosis, FailureClass
from relight.core.ladder import Launch, Promote, RollBack, next_step
from relight.core.preset import Layer, Preset

PROTECTED = frozenset({"tp-size", "dtype"})
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
