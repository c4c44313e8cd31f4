"""A preset that names no tool: bench_serving where the host has it, else the probe."""

from __future__ import annotations

import sys
from pathlib import Path

from relight.benchmarks import load
from relight.connections import Connection
from relight.core.engine import EngineSpec
from relight.core.measure.validity import faults
from relight.core.preset import Benchmark
from tests.benchmarks.conftest import Serve
from tests.benchmarks.test_bench_serving import served_by, served_with_tool

PLAN = Benchmark(requests=2, max_tokens=64)


def test_it_is_what_a_preset_gets_that_says_nothing() -> None:
    """The default of `benchmark.tool`."""
    assert Benchmark().tool == "auto"


def test_the_engines_own_tool_is_taken(serve: Serve, here: Connection, tmp_path: Path) -> None:
    """Where the engine's Python has bench_serving, the run is one of bench_serving."""
    target = served_with_tool(serve(step_ms="2"), tmp_path, "bench_serving.py")
    run = load("auto").measure(target, PLAN, here, lambda _: None)
    assert run.tool == "bench_serving"
    assert run.notes == ()


def test_else_the_probe_which_says_why(serve: Serve, here: Connection) -> None:
    """A Python without SGLang: the probe's run, with the reason told at once and kept in it."""
    told: list[str] = []
    target = served_by(serve(step_ms="2"), EngineSpec(python=sys.executable))
    run = load("auto").measure(target, PLAN, here, told.append)
    assert run.tool == "probe"
    assert faults(run) == ()
    why = f"measured by the probe: {sys.executable} has no sglang.bench_serving"
    assert run.notes[0] == why
    assert why in told


def test_a_tool_that_dies_leaves_it_to_the_probe(
    serve: Serve, here: Connection, tmp_path: Path
) -> None:
    """A missing import, say: the last line of the tool is in the note."""
    target = served_with_tool(serve(step_ms="2"), tmp_path, "bench_serving.py")
    broken = {**target.environment, "REPLAY": "/nowhere"}
    spec = EngineSpec(python=sys.executable)
    run = load("auto").measure(served_by(target, spec, broken), PLAN, here, lambda _: None)
    assert run.tool == "probe"
    assert "wrote no result: FileNotFoundError" in run.notes[0]
