"""Ring 5: deploys of the real SGLang, measured by its own tool, judged, and kept or undone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from relight.core.measure.comparison import Answer
from relight.core.measure.history import Entry
from relight.core.measure.metrics import summarize
from relight.core.measure.validity import faults
from relight.errors import EXIT_ROLLED_BACK
from tests.real.project import preset
from tests.real.rig import Ended, Rig

pytestmark = pytest.mark.real

TOKENS = 192
# Answers of a second: short ones scatter by more on two busy cores.
BENCHMARK = {"max_tokens": TOKENS}
# Nothing that a benchmark sees.
EQUAL = {"random-seed": 7}
# 24 layers in place of 2: eight times the time of a step. The files hold the weights of two.
SLOWER = {"json-model-override-args": '{"num_hidden_layers": 24}', "load-format": "dummy"}


@pytest.fixture(scope="module")
def alone() -> bool:
    """What is measured has both cores."""
    return True


@pytest.fixture(scope="module", params=["local10", "ssh23"])
def rig(request: pytest.FixtureRequest) -> Rig:
    """0.5.10 through the local connection, then 0.5.23 over SSH, with a known-good measured."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Rig)
    found.lay(benchmark=BENCHMARK)
    for ended in (found.deploy("--no-preflight"), found.on("bench")):
        assert ended.code == 0, ended.text
    assert newest(found).release == found.known_good()
    return found


def newest(rig: Rig) -> Entry:
    """Return the last stored benchmark."""
    stored = (rig.service / "measurements").glob("*.json")
    return Entry.model_validate_json(max(stored, key=lambda path: path.stat().st_mtime).read_text())


def changed(rig: Rig, flags: Mapping[str, object]) -> Ended:
    """Deploy with more flags, measured."""
    rig.lay(benchmark=BENCHMARK, flags=preset(rig.version)["flags"] | flags)
    try:
        return rig.deploy("--no-preflight", measure=True)
    finally:
        rig.lay(benchmark=BENCHMARK)


def is_of_the_engines_own_tool(rig: Rig, entry: Entry) -> None:
    """Hold that a benchmark is a valid one of both passes of this version's bench_serving."""
    run = entry.measurement
    assert faults(run) == ()
    assert (run.tool, run.tool_version) == ("bench_serving", f"1/{rig.version}")
    assert {one.concurrency for one in run.samples} == {1, 8}
    assert {one.output_tokens for one in run.samples} == {TOKENS}
    assert run.served_models == ("tiny",)
    figures = summarize(run)
    assert figures.tokens_per_step == pytest.approx(1.0, abs=0.01)
    assert figures.step_ms
    assert figures.tok_s


def test_an_equal_config_is_not_called_different(rig: Rig) -> None:
    """Another seed: measured with progress, judged same or inconclusive in words, promoted."""
    before = rig.served()
    ended = changed(rig, EQUAL)
    assert ended.code == 0, ended.text
    entry = newest(rig)
    is_of_the_engines_own_tool(rig, entry)
    assert entry.verdict is not None
    assert entry.verdict.answer in (Answer.SAME, Answer.INCONCLUSIVE), entry.verdict
    assert entry.verdict.sentence in ended.text
    assert "alone: 8 of 8 requests" in ended.text
    assert "loaded: 14 of 14 requests" in ended.text
    assert "tok/s a stream, loaded *" in ended.text
    after = rig.served()
    assert after.release == entry.release == rig.known_good()
    assert after.release != before.release


def test_a_config_that_is_slower_on_purpose_is_worse_and_undone(rig: Rig) -> None:
    """Twelve times the layers: worse, exit 3, the known-good serves; the record keeps both."""
    good = rig.known_good()
    ended = changed(rig, SLOWER)
    assert ended.code == EXIT_ROLLED_BACK, ended.text
    assert "worse than the known-good: " in ended.text
    assert "(on_worse: rollback)" in ended.text
    entry = newest(rig)
    is_of_the_engines_own_tool(rig, entry)
    assert entry.verdict is not None
    assert entry.verdict.answer is Answer.WORSE
    assert rig.served().release == rig.known_good() == good != entry.release
    assert rig.answers()

    history = rig.on("bench", "--history").text
    row = next(line for line in history.splitlines() if line.startswith(entry.release))
    assert row.split()[-1] == "worse"
    number = entry.release.partition("-")[0]
    compared = rig.on("bench", "--compare", f"{good}..{int(number)}")
    assert compared.code == 0, compared.text
    assert f"{entry.release}: worse than {good}: " in compared.text
