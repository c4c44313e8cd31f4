"""A declared command: its exit code decides, its output is kept, shell is the host's own."""

from __future__ import annotations

import pytest

from relight.benchmarks import Target, load
from relight.connections import Connection
from relight.core.engine import Endpoints
from relight.core.measure.comparison import Answer
from relight.core.measure.verdict import judge
from relight.core.preset import Benchmark
from relight.errors import UsageError

TARGET = Target(
    base_url="http://127.0.0.1:30000",
    model="m",
    endpoints=Endpoints(health="/h", models="/m", chat="/c", info="/i", load="/l"),
)


@pytest.mark.parametrize(
    ("command", "code", "answer"),
    [("exit 0", 0, Answer.SAME), ("exit 7", 7, Answer.FAILED), ("kill $$", 143, Answer.FAILED)],
)
def test_the_exit_code_decides(here: Connection, command: str, code: int, answer: Answer) -> None:
    """0 accepts, any other end fails, a signal too."""
    plan = Benchmark(tool="command", command=command)
    run = load("command").measure(TARGET, plan, here, lambda _: None)
    assert run.exit == code
    assert judge(run, []).answer is answer


def test_the_command_finds_its_server(here: Connection) -> None:
    """Address and model are in the environment; control characters of the output are not kept."""
    plan = Benchmark(
        tool="command", command="printf '%s %s\\\\033[2J\\\\n' $RELIGHT_BASE_URL $RELIGHT_MODEL"
    )
    run = load("command").measure(TARGET, plan, here, lambda _: None)
    assert run.output_tail.startswith("http://127.0.0.1:30000 m")
    assert "\x1b" not in run.output_tail


def test_a_tool_without_its_command_is_a_mistake_of_the_preset(here: Connection) -> None:
    """tool: command without command: is told before anything runs."""
    with pytest.raises(UsageError, match=r"benchmark.command is not set"):
        load("command").measure(TARGET, Benchmark(tool="command"), here, lambda _: None)
