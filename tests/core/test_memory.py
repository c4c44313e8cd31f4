"""A host's memory: what a deploy teaches, and what of it bears on the next one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from relight.core.attempt import Attempt, Failed, Ready, Recipe, Refused, first_recipe
from relight.core.engine import EngineSpec
from relight.core.failure import Diagnosis, Evidence, FailureClass
from relight.core.memory import (
    Rejection,
    build_of,
    concerns,
    learn,
    read_memory,
    recall,
    refused_by_build,
)
from relight.core.preset import Preset

AT = "2026-03-01T10:00:00Z"


def preset(**more: Any) -> Preset:
    """Return a preset with two layers and a fallback."""
    return Preset.model_validate(
        {
            "model": "/srv/m",
            "served_name": "m",
            "flags": {"mem-fraction-static": 0.9},
            "layers": {"a": {"flags": {"alpha": True}}, "b": {"flags": {"beta": 2}}},
            "fallbacks": [
                {
                    "on": "oom_graph_capture",
                    "adjust": {"mem-fraction-static": {"by": -0.05, "to": 0.5}},
                }
            ],
            **more,
        }
    )


def failed(recipe: Recipe, failure: FailureClass, flag: str | None = None) -> Attempt:
    """Return a launch that failed."""
    evidence = Evidence(line=3, text="the line")
    diagnosis = Diagnosis(failure=failure, flag=flag, evidence=evidence, summary="it broke")
    return Attempt(recipe=recipe, verdict=Failed(diagnosis=diagnosis), seconds=1)


def ready(recipe: Recipe) -> Attempt:
    """Return a launch that became ready."""
    return Attempt(recipe=recipe, verdict=Ready(), seconds=1)


BOTH = Recipe(layers=("a", "b"))


def test_a_layer_without_which_it_became_ready_is_learnt_and_recalled() -> None:
    """The next deploy leaves it out, with the reason and the date."""
    history = [failed(BOTH, FailureClass.GRAPH_CAPTURE), ready(Recipe(layers=("a",)))]
    learnt = learn(preset(), history, at=AT, release="r1")
    assert [(one.what, one.name, one.proof) for one in learnt] == [
        ("layer", "b", "ready without it")
    ]
    (refused,) = recall(learnt, preset())
    assert refused.layers == ("b",)
    assert "graph_capture: it broke" in refused.reason
    assert "2026-03-01" in refused.reason
    assert first_recipe(preset(), [Attempt(recipe=Recipe(), verdict=refused)]).layers == ("a",)


def test_a_blamed_layer_is_learnt_even_when_nothing_became_ready() -> None:
    """The engine named its flag: that is proof whatever came after."""
    history = [
        failed(BOTH, FailureClass.CLI_ARGS, "--beta"),
        failed(Recipe(layers=("a",)), FailureClass.OOM_WEIGHTS),
    ]
    assert [(one.name, one.proof) for one in learn(preset(), history, at=AT)] == [("b", "blamed")]


def test_a_crash_that_nothing_cured_teaches_nothing() -> None:
    """Layers that were dropped in vain are not guilty."""
    history = [
        failed(BOTH, FailureClass.UNKNOWN),
        failed(Recipe(layers=("a",)), FailureClass.UNKNOWN),
    ]
    assert learn(preset(), history, at=AT) == ()


def test_a_value_that_served_instead_is_recalled_while_the_preset_allows_it() -> None:
    """It is the fallback that permits the change: without it, or with another value, none."""
    changed = Recipe(layers=("a", "b"), changes={"mem-fraction-static": 0.85}, env={"X": "1"})
    learnt = learn(preset(), [failed(BOTH, FailureClass.OOM_GRAPH_CAPTURE), ready(changed)], at=AT)
    refused = recall(learnt, preset())
    assert [one.changes for one in refused] == [{"mem-fraction-static": 0.85}, {}]
    assert refused[1].env == {"X": "1"}
    assert recall(learnt, preset(fallbacks=[], env={"X": "2"})) == ()
    other = preset(flags={"mem-fraction-static": 0.8})
    assert [one.changes for one in recall(learnt, other)] == [{}]


def test_an_added_flag_is_recalled_without_a_fallback() -> None:
    """A remedy that only added a flag needs no permission of the preset."""
    changed = Recipe(layers=("a", "b"), changes={"gamma": True})
    learnt = learn(preset(), [failed(BOTH, FailureClass.P2P_ALLREDUCE), ready(changed)], at=AT)
    assert [one.changes for one in recall(learnt, preset())] == [{"gamma": True}]
    assert recall(learnt, preset(flags={"gamma": False})) == ()


def test_what_was_recalled_is_not_learnt_again() -> None:
    """A first launch that already goes without it proves nothing new."""
    known = Attempt(recipe=Recipe(), verdict=Refused(changes={"gamma": True}, reason="r"))
    recipe = Recipe(layers=("a", "b"), changes={"gamma": True}, env={"X": "1"})
    assert learn(preset(), [known, ready(recipe)], at=AT) == ()


def test_a_layer_is_known_by_its_flags() -> None:
    """Renamed it is recalled, with another value, off, or for another model it is not."""
    history = [failed(BOTH, FailureClass.UNKNOWN), ready(Recipe(layers=("a",)))]
    learnt = learn(preset(), history, at=AT)
    renamed = preset(layers={"c": {"flags": {"beta": 2}}})
    assert [one.layers for one in recall(learnt, renamed)] == [("c",)]
    assert recall(learnt, preset(layers={"b": {"flags": {"beta": 3}}})) == ()
    assert recall(learnt, preset(layers={"b": {"flags": {"beta": 2}, "enabled": False}})) == ()
    assert recall(learnt, preset(model="/srv/other")) == ()


def test_what_the_build_refused_is_history_only() -> None:
    """The engine's own checks are asked anew each time: other flags may make it acceptable."""
    told = refused_by_build(preset(), {"b": "needs urls", "gone": "x"}, at=AT)
    assert [(one.name, one.reason) for one in told] == [("b", "needs urls")]
    assert recall(told, preset()) == ()


def test_the_same_is_learnt_once() -> None:
    """A layer that is blamed, and without which it became ready, is one line."""
    history = [failed(BOTH, FailureClass.CLI_ARGS, "beta"), ready(Recipe(layers=("a",)))]
    learnt = learn(preset(), history, at=AT)
    assert [one.proof for one in learnt] == ["blamed"]
    assert learnt[0].same_as(learnt[0].model_copy(update={"at": "later"}))


def test_a_flag_is_found_by_itself_and_in_layers() -> None:
    """`concerns` sees aliases, layers' flags and single flags."""
    history = [failed(BOTH, FailureClass.UNKNOWN), ready(Recipe(layers=("a",)))]
    (one,) = learn(preset(), history, at=AT)
    assert concerns(one, "beta")
    assert not concerns(one, "alpha")
    assert concerns(one, "bee", lambda name: {"bee": "beta"}.get(name, name))


def test_builds_differ_by_version_and_place() -> None:
    """Another version or another installation is another build; names are safe as file names."""
    here, there = EngineSpec(python="/a/python"), EngineSpec(python="/b/python")
    names = {
        build_of("sglang", "0.5.10", here),
        build_of("sglang", "0.5.12", here),
        build_of("sglang", "0.5.10", there),
        build_of("sglang", "", here),
    }
    assert len(names) == 4
    assert all("/" not in build_of("sglang", text, here) for text in ("../../x", "a/b"))


@given(st.text())
def test_reading_never_fails(text: str) -> None:
    """A memory is a host's word: what is no rejection is passed over."""
    assert read_memory(text) == ()


def test_lines_survive_the_way_to_the_host_and_back() -> None:
    """Written and read again it is the same; control characters of a log are taken out."""
    one = Rejection(
        at=AT,
        model="m",
        what="layer",
        name="b",
        flags={"beta": (1, True, "x")},
        reason="a\x1b[31mb",
    )
    torn = one.model_dump_json()[:-9]
    (back,) = read_memory(f"{torn}\n{one.model_dump_json()}\n")
    assert back.reason == "a[31mb"
    assert back.same_as(one)
