"""bench_serving: found in both of its places, run, read, and cleaned away; for real in ring 5."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from relight import engines
from relight.benchmarks import Target, load
from relight.connections import Connection
from relight.core.engine import EngineSpec
from relight.core.measure.metrics import summarize
from relight.core.measure.validity import faults
from relight.core.preset import Benchmark
from relight.errors import HostError, Interrupted
from tests.benchmarks.conftest import NEXTN, Serve
from tests.deadline import until
from tests.real.environment import VERSIONS, ensure, model

HERE = Path(__file__).parent
PLAN = Benchmark(tool="bench_serving", max_tokens=64)


def served_with_tool(target: Target, folder: Path, place: str, version: str = "0.5.10") -> Target:
    """Return a target whose engine's Python has a rehearsal of the tool at this place."""
    path = folder / "site" / "sglang" / place
    path.parent.mkdir(parents=True)
    for package in {path.parent, folder / "site" / "sglang"}:
        (package / "__init__.py").touch()
    shutil.copy(HERE / "replayed_tool.py", path)
    record = HERE.parent / "data" / "bench" / f"{version}.jsonl"
    environment = {
        "PYTHONPATH": str(folder / "site"),
        "REPLAY": str(record),
        "TMPDIR": str(folder),
    }
    return served_by(target, EngineSpec(python=sys.executable), environment)


def served_by(target: Target, spec: EngineSpec, environment: Mapping[str, str] = {}) -> Target:
    """Return a target that this engine serves, with NEXTN."""
    return replace(
        target,
        python=engines.load("sglang").python_of(spec),
        environment=environment,
        model_path="/models/m",
        flags=NEXTN,
    )


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
    target = served_with_tool(serve(step_ms="2"), tmp_path, place)
    run = load("bench_serving").measure(target, PLAN, here, told.append)
    assert f"alone: starting {module}" in told
    assert any("14 of 14 requests" in line for line in told)
    assert {one.concurrency for one in run.samples} == {1, 8}
    assert summarize(run).step_ms == pytest.approx(20.0, rel=0.02)
    assert summarize(run).loaded_tok_s
    assert faults(run) == ()


def test_answers_are_as_long_as_in_the_run_that_it_is_compared_with(
    serve: Serve, here: Connection, tmp_path: Path
) -> None:
    """The first run sizes them by the server's speed, each later one repeats what was asked."""
    target = served_with_tool(serve(step_ms="2"), tmp_path, "bench_serving.py")
    plan = Benchmark(max_tokens=300)
    sized = replace(target, environment={**target.environment, "REPLAY_TOKENS": "300"})
    first = load("bench_serving").measure(sized, plan, here, lambda _: None)
    asked = str(max(one.output_tokens for one in first.samples))
    assert asked != "300"
    again = {**target.environment, "REPLAY_TOKENS": asked}
    run = load("bench_serving").measure(
        replace(target, environment=again, before=first), plan, here, lambda _: None
    )
    assert faults(run) == ()


def test_a_python_without_the_tool_is_told_with_the_way_out(serve: Serve, here: Connection) -> None:
    """No sglang there: an error that names the Python and the probe, not a failed benchmark."""
    target = served_by(serve(step_ms="2"), EngineSpec(python=sys.executable))
    with pytest.raises(HostError, match=r"has no sglang.bench_serving.*tool: probe"):
        load("bench_serving").measure(target, PLAN, here, lambda _: None)


def test_a_command_that_names_no_python_is_told_too(
    serve: Serve, here: Connection, tmp_path: Path
) -> None:
    """Without a Python of the engine there is nothing to run the tool with, and it says why."""
    target = replace(serve(step_ms="2"), python="")
    with pytest.raises(HostError, match="needs the engine's own Python"):
        load("bench_serving").measure(target, PLAN, here, lambda _: None)
    program = tmp_path / "serve"
    program.write_text("no script at all\n")
    program.chmod(0o755)
    target = served_by(target, EngineSpec(command=(str(program),)))
    with pytest.raises(HostError, match=r"has no sglang.bench_serving \(.*names no Python\)"):
        load("bench_serving").measure(target, PLAN, here, lambda _: None)


def test_a_command_that_is_a_script_of_the_engines_python_will_do(
    serve: Serve, here: Connection, tmp_path: Path
) -> None:
    """The first line of `sglang`, say, names the Python that has the tool."""
    target = served_with_tool(serve(step_ms="2"), tmp_path, "bench_serving.py")
    script = tmp_path / "sglang"
    script.write_text(f"#!{sys.executable}\nprint()\n")
    script.chmod(0o755)
    spec = EngineSpec(command=(str(script), "serve"))
    target = served_by(target, spec, target.environment)
    run = load("bench_serving").measure(target, PLAN, here, lambda _: None)
    assert faults(run) == ()


def test_a_tool_that_dies_is_told_with_its_last_line(
    serve: Serve, here: Connection, tmp_path: Path
) -> None:
    """No result file: the last line that the tool printed is the reason."""
    target = served_with_tool(serve(step_ms="2"), tmp_path, "bench_serving.py")
    broken = replace(target, environment={**target.environment, "REPLAY": "/nowhere"})
    with pytest.raises(HostError, match=r"wrote no result: FileNotFoundError.*/nowhere"):
        load("bench_serving").measure(broken, PLAN, here, lambda _: None)


def test_an_interrupt_is_heard_while_the_tool_loads(
    serve: Serve, here: Connection, tmp_path: Path
) -> None:
    """The tool says nothing for a minute; `go_on` is asked all the same, and nothing is left."""

    def stop() -> None:
        raise Interrupted("here: interrupted")

    target = served_with_tool(serve(step_ms="2"), tmp_path, "bench_serving.py")
    slow = {**target.environment, "REPLAY_AFTER": "60"}
    target = replace(target, environment=slow, go_on=stop)
    begun = time.monotonic()
    with pytest.raises(Interrupted):
        load("bench_serving").measure(target, PLAN, here, lambda _: None)
    assert time.monotonic() - begun < 30
    assert not list(tmp_path.glob("tmp.*"))
    until(lambda: not running(str(tmp_path / "tmp.")), 20, "the end of the tool")


def running(words: str) -> list[str]:
    """Return the command lines of living processes that hold these words."""
    lines = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                lines.append((folder / "cmdline").read_bytes().decode(errors="replace"))
    return [line for line in lines if words in line]


@pytest.mark.real
@pytest.mark.parametrize("version", VERSIONS)
def test_the_real_tool_recovers_a_known_pace(serve: Serve, here: Connection, version: str) -> None:
    """SGLang's own bench_serving against 20 ms and 2.7 tokens a round: both within 2 %."""
    target = replace(
        serve(drafts=True, step_ms="20", accept_len="2.7"),
        python=engines.load("sglang").python_of(EngineSpec(python=str(ensure(version)))),
        model_path=str(model()),
    )
    run = load("bench_serving").measure(target, PLAN, here, lambda _: None)
    assert faults(run) == ()
    assert run.tool_version.endswith(version)
    assert summarize(run).step_ms == pytest.approx(20.0, rel=0.02)
    assert summarize(run).tokens_per_step == pytest.approx(2.7, rel=0.02)
