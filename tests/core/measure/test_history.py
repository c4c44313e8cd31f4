"""History: a row a benchmark, plots that never mix tools, and the verdict's table."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relight.core.measure import verdict_table
from relight.core.measure.comparison import Answer
from relight.core.measure.history import COLUMNS, Entry, by_config, plots, rows, starts
from relight.core.measure.measurement import Measurement, Sample
from relight.core.measure.metrics import summarize
from relight.core.measure.verdict import Verdict, judge


def run(tok_s: float, tool: str = "probe") -> Measurement:
    """Return a run of four even prompts."""
    samples = tuple(
        Sample(
            prompt=f"p{at}",
            output_tokens=100,
            tok_s=tok_s,
            step_ms=3000 / tok_s,
            tokens_per_step=3.0,
            rounds=30,
            ttft_ms=150.0,
        )
        for at in range(4)
    )
    return Measurement(
        tool=tool,
        tool_version="1",
        backend="chat",
        started="2026-11-29T20:15:00+00:00",
        samples=samples,
    )


def entry(
    release: str,
    tok_s: float,
    *,
    known_good: bool = False,
    tool: str = "probe",
    launch: int | None = None,
) -> Entry:
    """Return one stored benchmark."""
    verdict = Verdict(answer=Answer.SAME, sentence="")
    return Entry(
        release=release,
        launch=launch,
        measurement=run(tok_s, tool),
        verdict=verdict,
        known_good=known_good,
    )


def test_a_start_is_one_sample_however_often_it_was_measured() -> None:
    """The newest run of each launch counts; what was stored without a launch is one each."""
    stored = [
        entry("1", 50.0, launch=4),
        entry("1", 51.0, launch=5),
        entry("1", 52.0, launch=4),
        entry("1", 53.0),
        entry("1", 54.0),
    ]
    assert starts(stored) == (run(51.0), run(52.0), run(53.0), run(54.0))


def test_starts_of_equal_configs_are_grouped_and_one_release_is_left_out() -> None:
    """The known-good's own starts are counted elsewhere: twice would be twice the certainty."""
    stored = [entry("1", 50.0, launch=1), entry("2", 60.0, launch=2), entry("1", 51.0, launch=3)]
    assert by_config(stored) == ((run(50.0), run(51.0)), (run(60.0),))
    assert by_config(stored, "1") == ((run(60.0),),)


def test_without_speculation_no_accept_length_is_drawn() -> None:
    """One token a round is no news; a release with drafts brings the plot back."""
    plain = run(60.0)
    samples = tuple(one.model_copy(update={"tokens_per_step": 1.0}) for one in plain.samples)
    before = Entry(release="1", measurement=plain.model_copy(update={"samples": samples}))
    assert not any("accept length" in line for line in plots([before, before]))
    assert any("accept length" in line for line in plots([before, entry("2", 60.0)]))


def test_a_run_that_was_compared_with_nothing_shows_its_figures() -> None:
    """What was not measured has no row, and one stream's tokens are no loaded throughput."""
    assert verdict_table.figures(summarize(run(50.0))) == (
        ("tok/s, one stream", "50.0 tok/s"),
        ("step time", "60.0 ms"),
        ("tokens per step", "3.00"),
        ("time to first token", "150.0 ms"),
    )


def test_a_row_tells_release_figures_and_verdict() -> None:
    """Known-good is marked, figures are rounded, what was not measured is a dash."""
    (row,) = rows([entry("7-qwen-ab12", 55.04, known_good=True)])
    assert row == (
        "7-qwen-ab12 *",
        "2026-11-29 20:15",
        "probe",
        "55.0",
        "54.5",
        "3.00",
        "-",
        "150",
        "-",
        "same",
    )
    assert len(row) == len(COLUMNS)


def test_the_plot_goes_up_when_the_figure_does() -> None:
    """A faster release stands higher, the known-good is filled, names stand below."""
    lines = plots([entry("1", 50.0, known_good=True), entry("2", 60.0)])
    speed = lines[: lines.index("")]
    assert "tok/s (probe)" in speed[0]
    old = next(at for at, line in enumerate(speed) if "●" in line)
    new = next(at for at, line in enumerate(speed) if "○" in line)
    assert new < old
    assert lines[-1].strip() == "1 to 2; ● known-good"


def test_another_tool_s_numbers_are_not_drawn() -> None:
    """The newest entry's tool alone has the axis."""
    lines = plots([entry("1", 500.0, tool="bench_serving"), entry("2", 60.0), entry("3", 61.0)])
    assert lines[-1].strip() == "2 to 3; ● known-good"
    assert not any("500" in line for line in lines)


def test_nothing_stored_is_nothing_drawn() -> None:
    """An empty history has neither rows nor lines."""
    assert rows([]) == ()
    assert plots([]) == ()


@given(st.lists(st.floats(0.5, 1e5), min_size=1, max_size=200), st.integers(20, 120))
def test_a_plot_keeps_its_width(values: list[float], width: int) -> None:
    """However many releases there are and whatever their figures, no line grows too long."""
    lines = plots([entry(str(at), value) for at, value in enumerate(values)], width)
    assert all(len(line) <= width + 12 for line in lines if "known-good" not in line)


def test_the_verdict_s_table_shows_what_decides_first() -> None:
    """Deciding metrics are marked and stand on top, each with its interval and answer."""
    table = verdict_table.rows(judge(run(60.0), [run(50.0)]))
    assert table[0][0] == "step time *"
    assert table[0][3] == "+20.0%"
    assert table[0][5] == "better"
    assert not table[-1][0].endswith("*")
    assert all(len(row) == len(verdict_table.columns()) for row in table)
