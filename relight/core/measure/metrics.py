"""Metrics with one definition each: how a measurement's samples become the figures one reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log, sqrt
from statistics import fmean, median, stdev, variance

from relight.core.measure.measurement import Measurement, Sample
from relight.core.measure.student import two_sided
from relight.core.model import Frozen


@dataclass(frozen=True)
class Metric:
    """One figure of a sample: its name, unit and whether more of it is better.

    `loaded` picks the samples of the pass with several requests at once.
    """

    name: str
    label: str
    unit: str
    more_is_better: bool
    loaded: bool = False
    field: str = ""

    def of(self, sample: Sample) -> float | None:
        """Return the sample's figure; None where it has none, or where it was not answered."""
        if sample.error or (sample.concurrency > 1) != self.loaded:
            return None
        value = getattr(sample, self.field or self.name)
        return value if isinstance(value, float) and value > 0 else None


STEP = Metric("step_ms", "step time", "ms", more_is_better=False)
TOKENS = Metric("tokens_per_step", "tokens per step", "", more_is_better=True)
SPEED = Metric("tok_s", "tok/s, one stream", "tok/s", more_is_better=True)
TTFT = Metric("ttft_ms", "time to first token", "ms", more_is_better=False)
LOADED = Metric(
    "loaded_tok_s",
    "tok/s a stream, loaded",
    "tok/s",
    more_is_better=True,
    loaded=True,
    field="tok_s",
)
METRICS = (STEP, TOKENS, SPEED, TTFT, LOADED)
STEADY = 0.03
"""Step time hardly depends on the text: requests further apart than this are an unsteady host's."""


class Summary(Frozen):
    """A run in figures; None where it has none. Definitions: docs/benchmark.md."""

    step_ms: float | None = None
    tokens_per_step: float | None = None
    tok_s: float | None = None
    ttft_ms: float | None = None
    ttft_long_ms: float | None = None
    prefill_tok_s: float | None = None
    tpot_ms: float | None = None
    itl_ms: float | None = None
    e2e_ms: float | None = None
    loaded_tok_s: float | None = None
    throughput: float | None = None
    accept_len: float | None = None
    seed_tok_s: float | None = None


def summarize(run: Measurement) -> Summary:
    """Return the figures of one run."""
    alone = [one for one in run.samples if one.concurrency == 1 and not one.error]
    loaded = [one for one in run.samples if one.concurrency > 1]
    long = [one for one in alone if one.prompt.startswith("long-")]
    short = [one for one in alone if one not in long]
    gaps = [
        gap / tokens
        for one in alone
        for gap, tokens in zip(one.gaps_ms, one.gap_tokens, strict=False)
        if tokens
        for _ in range(tokens)
    ]
    passes = max(run.passes, key=lambda part: part.concurrency, default=None)
    return Summary(
        step_ms=_median(one.step_ms for one in alone),
        tokens_per_step=_tokens_per_step(alone),
        tok_s=_harmonic(alone),
        ttft_ms=_median(one.ttft_ms for one in short),
        ttft_long_ms=_median(one.ttft_ms for one in long),
        prefill_tok_s=_prefill(long),
        tpot_ms=_median(tpot(one) for one in alone),
        itl_ms=median(gaps) if gaps else None,
        e2e_ms=_median(one.e2e_ms for one in alone),
        loaded_tok_s=_harmonic(loaded),
        throughput=passes.throughput if passes else None,
        accept_len=run.accept_len,
        seed_tok_s=_harmonic([one for one in alone if one.prompt == "seed"]),
    )


def tpot(one: Sample) -> float | None:
    """Return (E2E - TTFT) / (output tokens - 1) in ms, as SGLang's bench_serving defines it."""
    if one.ttft_ms is None or one.output_tokens < 2:
        return None
    return (one.e2e_ms - one.ttft_ms) / (one.output_tokens - 1)


def log_mean(run: Measurement, metric: Metric) -> float | None:
    """Return the mean log of a metric over a run's requests: one number a start of the server."""
    found = [log(value) for one in run.samples if (value := metric.of(one)) is not None]
    return fmean(found) if found else None


def drift(run: Measurement, metric: Metric) -> float:
    """Return how far a run's second half lies from its first, on the log scale.

    0 where the run is too short, or where the scatter of its requests explains the shift. Step
    time hardly depends on the text, so a shift within a run is the host's.
    """
    found = [log(value) for one in run.samples if (value := metric.of(one)) is not None]
    if len(found) < 4:
        return 0.0
    first, second = found[: len(found) // 2], found[len(found) // 2 :]
    shift = abs(fmean(second) - fmean(first))
    squares = variance(first) * (len(first) - 1) + variance(second) * (len(second) - 1)
    scatter = sqrt(squares / (len(found) - 2) * (1 / len(first) + 1 / len(second)))
    return shift if shift > two_sided(len(found) - 2, 0.9) * scatter else 0.0


def scatter(run: Measurement) -> float:
    """Return how far the step times of a run's requests lie apart, as a log standard deviation.

    0 below `STEADY`: there it is the measurement's own, and the interval allows for it already.
    """
    found = [log(value) for one in run.samples if (value := STEP.of(one)) is not None]
    spread = stdev(found) if len(found) > 2 else 0.0
    return spread if spread > STEADY else 0.0


def _median(values: Iterable[float | None]) -> float | None:
    found = [value for value in values if value is not None and value > 0]
    return median(found) if found else None


def _harmonic(samples: Iterable[Sample]) -> float | None:
    found = [one.tok_s for one in samples if one.tok_s and not one.error]
    return len(found) / sum(1 / speed for speed in found) if found else None


def _tokens_per_step(samples: Iterable[Sample]) -> float | None:
    found = [(one.rounds, one.tokens_per_step) for one in samples if one.tokens_per_step]
    rounds = sum(count for count, _ in found)
    return sum(count * tokens for count, tokens in found) / rounds if rounds else None


def _prefill(samples: Iterable[Sample]) -> float | None:
    return _median(
        1000 * one.input_tokens / one.ttft_ms for one in samples if one.input_tokens and one.ttft_ms
    )
