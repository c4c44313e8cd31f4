"""bench_serving: found in both of its places, run, read, and cleaned away; for real in ring 5."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from relight.benchmarks import Target, load
from relight.connections import Connection
from relight.core.engine import EngineSpec
from relight.core.measure.metrics import summarize
from relight.core.measure.validity import faults
from relight.core.preset import Benchmark
from relight.errors import HostError
from tests.benchmarks.conftest import NEXTN, Serve
from tests.real.environment import VERSIONS, ensure, model

HERE = Path(__file__).parent
PLAN = Benchmark(tool="bench_serving", max_tokens=64)


def engine_with_tool(folder: Path, place: str, version: str = "0.5.10") -> EngineSpec:
    """Return an engine whose Python has a rehearsal of the tool at this place of its package."""
    path = folder / "site" / "sglang" / place
    path.parent.mkdir(parents=True)
    for package in {path.parent, folder / "site" / "sglang"}:
        (package / "__init__.py").touch()
    shutil.copy(HERE / "replayed_tool.py", path)
    record = HERE.parent / "data" / "bench" / f"{version}.jsonl"
    return EngineSpec(
        python=sys.executable,
        env={
            "PYTHONPATH": str(folder / "site"),
            "REPLAY": str(record),
            "TMPDIR": str(folder),
        },
    )


def with_engine(target: Target, engine: EngineSpec) -> Target:
    """Return a target that this engine serves, with NEXTN."""
    return replace(target, engine=engine, model_path="/models/m", flags=NEXTN)


@pytest.mark.parametrize(
    ("place", "module"),
    [
        ("bench_serving.py", "sglang.bench_serving"),
        ("benchmark/serving.py", "sglang.benchmark.serving"),
    ],
)
def test_the_tool_is_found_where_each_version_has_it(
    serve: Serve, here: Connection, tmp_path: Path, place: str, module: str
) -> None:
    """Both places work; two passes are made, progress is told, the folder is gone after it."""
    told: list[str] = []
    target = with_engine(serve(step_ms="2"), engine_with_tool(tmp_path, place))
    run = load("bench_serving").measure(target, PLAN, here, told.append)
    assert f"alone: starting {module}" in told
    assert any("14 of 14 requests" in line for line in told)
    assert {one.concurrency for one in run.samples} == {1, 8}
    assert summarize(run).step_ms == pytest.approx(20.0, rel=0.02)
    assert summarize(run).loaded_tok_s
    assert faults(run) == ()


def test_a_python_without_the_tool_is_told_with_the_way_out(serve: Serve, here: Connection) -> None:
    """No sglang there: an error that names the Python and the probe, not a failed benchmark."""
    target = with_engine(serve(step_ms="2"), EngineSpec(python=sys.executable))
    with pytest.raises(HostError, match=r"has no sglang.bench_serving.*tool: probe"):
        load("bench_serving").measure(target, PLAN, here, lambda _: None)


def test_an_engine_that_is_a_command_is_told_too(serve: Serve, here: Connection) -> None:
    """Without a Python of the engine there is nothing to run the tool with."""
    target = with_engine(serve(step_ms="2"), EngineSpec(command=("serve",)))
    with pytest.raises(HostError, match="needs the engine's own Python"):
        load("bench_serving").measure(target, PLAN, here, lambda _: None)


def test_a_tool_that_dies_is_told_with_its_last_line(
    serve: Serve, here: Connection, tmp_path: Path
) -> None:
    """No result file: the last line that the tool printed is the reason."""
    engine = engine_with_tool(tmp_path, "bench_serving.py")
    broken = engine.model_copy(update={"env": {**engine.env, "REPLAY": "/nowhere"}})
    with pytest.raises(HostError, match=r"wrote no result: FileNotFoundError.*/nowhere"):
        load("bench_serving").measure(
            with_engine(serve(step_ms="2"), broken), PLAN, here, lambda _: None
        )


@pytest.mark.real
@pytest.mark.parametrize("version", VERSIONS)
def test_the_real_tool_recovers_a_known_pace(serve: Serve, here: Connection, version: str) -> None:
    """SGLang's own bench_serving against 20 ms and 2.7 tokens a round: both within 2 %."""
    target = replace(
        serve(drafts=True, step_ms="20", accept_len="2.7"),
        engine=EngineSpec(python=str(ensure(version))),
        model_path=str(model()),
    )
    run = load("bench_serving").measure(target, PLAN, here, lambda _: None)
    assert faults(run) == ()
    assert run.tool_version.endswith(version)
    assert summarize(run).step_ms == pytest.approx(20.0, rel=0.02)
    assert summarize(run).tokens_per_step == pytest.approx(2.7, rel=0.02)
