"""Better, same or worse than the known-good? Paired by prompt, and wide enough for restarts."""

from __future__ import annotations

from collections.abc import Sequence

from relight.core.measure.comparison import FEWEST_PAIRS, MARGIN, Answer, Comparison, compare
from relight.core.measure.cpu_pressure import blur
from relight.core.measure.likeness import drafted_alike, link_fell, unlike
from relight.core.measure.measurement import Measurement
from relight.core.measure.metrics import (
    LOADED,
    METRICS,
    SPEED,
    STEP,
    TOKENS,
    Metric,
    drift,
    log_mean,
    scatter,
    summarize,
)
from relight.core.measure.noise import Noise, restart_noise
from relight.core.measure.validity import disturbances, faults, remarks
from relight.core.model import Frozen
from relight.core.preset import Expect


class Verdict(Frozen):
    """The answer in one sentence, its reasons, and every number behind it."""

    answer: Answer
    sentence: str
    reasons: tuple[str, ...] = ()
    rows: tuple[Comparison, ...] = ()
    noise: Noise | None = None
    runs: int = 0


def judge(
    candidate: Measurement,
    known_good: Sequence[Measurement],
    expect: Expect | None = None,
    same_config_runs: Sequence[Sequence[Measurement]] = (),
    than: str = "the known-good",
) -> Verdict:
    """Return the verdict on a run against the known-good's own starts, oldest first.

    `same_config_runs` are this host's starts of other releases, a group a config: they only tell
    its restart noise. Without a comparable run the gates and the preset's floors (`expect`) decide
    alone. `than` names what it is compared with.
    """
    wrong = faults(candidate)
    if wrong:
        more = f" ({len(wrong)} faults)" if len(wrong) > 1 else ""
        return _plain(Answer.FAILED, f"not a benchmark: {wrong[0]}{more}", wrong)
    if candidate.exit is not None:
        return _plain(Answer.SAME, "the declared command accepted it (exit 0)", ())
    disturbed = disturbances(candidate)
    if disturbed:
        return _plain(Answer.INCONCLUSIVE, f"cannot be judged: {disturbed[0]}", disturbed)
    missed = below(candidate, expect or Expect())
    if missed:
        return _plain(Answer.FAILED, f"below the preset's floor: {missed[0]}", missed)
    notes = remarks(candidate)
    if not known_good:
        sentence = f"nothing to compare with: no run of {than} is stored for this service"
        return _plain(Answer.NOT_COMPARABLE, sentence, notes)
    like = [run for run in known_good if not unlike(candidate, run)]
    if not like:
        why = unlike(candidate, known_good[-1])
        return _plain(Answer.NOT_COMPARABLE, f"unlike {than}: {why[0]}", why + notes)
    sound = [run for run in like if not faults(run) and not disturbances(run)]
    if not sound:
        return _plain(Answer.INCONCLUSIVE, f"no run of {than} was undisturbed and valid", notes)
    fell = link_fell(candidate, sound[-1])
    if fell:
        return _plain(Answer.INCONCLUSIVE, f"cannot be judged: {fell[0]}", fell + notes)
    return _compared(candidate, sound, same_config_runs, notes, than)


def below(run: Measurement, expect: Expect) -> tuple[str, ...]:
    """Return the floors that a run misses, in words."""
    figures = summarize(run)
    found: list[str] = []
    for label, value, floor, more in (
        ("tok/s", figures.tok_s, expect.tok_s, True),
        ("ms to the first token", figures.ttft_ms, expect.ttft_ms, False),
        ("accept length", figures.accept_len or figures.tokens_per_step, expect.accept_len, True),
    ):
        if floor is None:
            continue
        if value is None:
            found.append(f"{label} was not measured, {floor:g} is expected")
        elif (value < floor) if more else (value > floor):
            found.append(
                f"{value:.1f} {label}, {'at least' if more else 'at most'} {floor:g} asked"
            )
    return tuple(found)


def _compared(
    candidate: Measurement,
    known_good: Sequence[Measurement],
    same_config_runs: Sequence[Sequence[Measurement]],
    notes: tuple[str, ...],
    than: str,
) -> Verdict:
    deciding = _deciding(candidate, known_good)
    crowded = max(_blur(candidate, run) for run in known_good)
    rows: list[Comparison] = []
    noises: dict[str, Noise] = {}
    for metric in METRICS:
        noise = _noise(metric, candidate, known_good, same_config_runs)
        row = compare(
            metric,
            candidate,
            known_good,
            noise,
            decides=metric in deciding,
            bias=0.0 if metric is TOKENS else crowded,
        )
        if row is not None:
            rows.append(row)
            noises[metric.name] = noise
    decided = [row for row in rows if row.decides]
    if not decided:
        sentence = f"fewer than {FEWEST_PAIRS} prompts were measured in both runs"
        return Verdict(
            answer=Answer.INCONCLUSIVE, sentence=sentence, reasons=notes, rows=tuple(rows)
        )
    answer = _overall(decided, rows)
    head = _telling(decided, answer)
    noise = noises[head.metric]
    return Verdict(
        answer=answer,
        sentence=_sentence(answer, head, than),
        reasons=(
            *_why(noise, len(known_good), than),
            *_crowded(crowded, candidate, known_good[-1]),
            *_text_moved(rows),
            *_loads_apart(candidate, known_good[-1]),
            *notes,
        ),
        rows=tuple(rows),
        noise=noise,
        runs=len(known_good),
    )


def _deciding(candidate: Measurement, known_good: Sequence[Measurement]) -> tuple[Metric, ...]:
    apart = drafted_alike(candidate, known_good[-1]) and all(
        log_mean(run, STEP) is not None for run in (candidate, *known_good)
    )
    return (STEP, TOKENS, LOADED) if apart else (SPEED, LOADED)


def _noise(
    metric: Metric,
    candidate: Measurement,
    known_good: Sequence[Measurement],
    same_config_runs: Sequence[Sequence[Measurement]],
) -> Noise:
    groups = [
        [mean for run in group if (mean := log_mean(run, metric)) is not None]
        for group in (known_good, *same_config_runs)
    ]
    unsteady = 0.0
    if metric is not TOKENS:
        runs = (candidate, *known_good)
        # Of one stream: under load the last requests run beside fewer, and faster for that.
        unsteady = max(max(drift(run, STEP), scatter(run)) for run in runs)
    return restart_noise(groups, unsteady)


def _overall(decided: Sequence[Comparison], rows: Sequence[Comparison]) -> Answer:
    answers = {row.answer for row in decided}
    if Answer.WORSE in answers:
        return Answer.WORSE
    if Answer.BETTER in answers:
        speed = next((row for row in rows if row.metric == SPEED.name), None)
        return Answer.BETTER if speed is None or speed.change > 0 else Answer.INCONCLUSIVE
    return Answer.SAME if answers == {Answer.SAME} else Answer.INCONCLUSIVE


def _telling(decided: Sequence[Comparison], answer: Answer) -> Comparison:
    return next((row for row in decided if row.answer == answer), decided[0])


def _sentence(answer: Answer, row: Comparison, than: str) -> str:
    words = {
        Answer.BETTER: f"better than {than}",
        Answer.SAME: f"same as {than}",
        Answer.WORSE: f"worse than {than}",
    }.get(answer, f"no difference from {than} can be shown or excluded")
    unit = f" {row.unit}" if row.unit else ""
    return (
        f"{words}: {row.label} {row.candidate:.1f}{unit} against {row.known_good:.1f}{unit} "
        f"({row.change:+.1%}, 95 % interval {row.low:+.1%} to {row.high:+.1%}; + is better)"
    )


def _why(noise: Noise, runs: int, than: str) -> tuple[str, ...]:
    seen = (
        f"restart noise {noise.sigma:.1%}, from {noise.restarts} "
        f"restart{'s' if noise.restarts > 1 else ''} of equal configs here"
        if noise.restarts
        else f"restart noise {noise.sigma:.1%}, assumed: this host has not shown its own yet"
    )
    if noise.drift >= noise.sigma:
        seen = f"noise {noise.sigma:.1%}: so far did step times drift or scatter within one run"
    return (f"{seen}; {runs} start{'s' if runs > 1 else ''} of {than} measured",)


def _blur(now: Measurement, then: Measurement) -> float:
    """Return how far unlike waiting for a CPU may have moved two runs apart, on the log scale."""
    if now.cpu_wait is not None and then.cpu_wait is not None:
        return blur(now.cpu_wait, then.cpu_wait)
    return blur(now.cpu_pressure, then.cpu_pressure)


def _crowded(bias: float, now: Measurement, then: Measurement) -> tuple[str, ...]:
    first, second, who = then.cpu_wait, now.cpu_wait, "the server"
    if first is None or second is None:
        first, second, who = then.cpu_pressure, now.cpu_pressure, "something on the host"
    if bias < MARGIN or first is None or second is None:
        return ()
    return (
        (
            f"{who} waited for a CPU {second:.0%} of the time now, {first:.0%} then: "
            f"the interval is wider by {bias:.1%}"
        ),
    )


def _text_moved(rows: Sequence[Comparison]) -> tuple[str, ...]:
    by_name = {row.metric: row for row in rows}
    step, tokens = by_name.get(STEP.name), by_name.get(TOKENS.name)
    if step is None or tokens is None or not tokens.decides:
        return ()
    if step.answer == Answer.SAME and tokens.answer in (Answer.BETTER, Answer.WORSE):
        return ("the draft settings are unchanged: the text or the numerics moved, not the speed",)
    return ()


def _loads_apart(now: Measurement, then: Measurement) -> tuple[str, ...]:
    """Return that the loaded passes had unlike loads, so that only one stream was compared."""
    first, second = (
        max((one.concurrency for one in run.samples), default=1) for run in (then, now)
    )
    if first == second:
        return ()
    return (f"{first} requests at once then, {second} now: the loaded pass was not compared",)


def _plain(answer: Answer, sentence: str, reasons: tuple[str, ...]) -> Verdict:
    return Verdict(answer=answer, sentence=sentence, reasons=reasons)
