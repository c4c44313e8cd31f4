"""Is it a benchmark at all? Faults that make a run a failure, and what only disturbed it."""

from __future__ import annotations

from collections.abc import Iterator

from relight.core.measure.measurement import Measurement, Sample

COUNTS_APART = 0.03
CACHED_SHARE, CACHED_TOKENS = 0.25, 16
DEGENERATE = 0.9
"""A model may fall into a loop once; one that does in most answers is broken."""
GOOD_ENDINGS = frozenset({"", "stop", "length", "tool_calls", "function_call"})
BAD_THROTTLES = frozenset({"hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"})


def faults(run: Measurement) -> tuple[str, ...]:
    """Return everything that makes a run a failure, in words; empty for a valid one."""
    if run.exit is not None:
        return (f"the declared command ended with exit {run.exit}",) if run.exit else ()
    if not run.samples:
        return ("not one request was sent",)
    found = [text for one in run.samples for text in _of_sample(one, run)]
    found += _of_run(run)
    return tuple(dict.fromkeys(found))


def _of_sample(one: Sample, run: Measurement) -> Iterator[str]:
    if one.error:
        yield f"{one.prompt}: {one.error}"
        return
    if one.output_tokens == 0:
        yield f"{one.prompt}: no token came"
        return
    if one.finish not in GOOD_ENDINGS:
        yield f"{one.prompt}: the answer ended with {one.finish!r}"
    if one.model and run.expected_model and one.model != run.expected_model:
        yield f"{one.prompt}: answered by {one.model!r} where {run.expected_model!r} was asked"
    if cached(one) and not run.others:
        yield (
            f"{one.prompt}: {one.cached_tokens} of {one.input_tokens} prompt tokens came from the "
            "prefix cache"
        )


def _of_run(run: Measurement) -> Iterator[str]:
    if run.expected_model and run.served_models and run.expected_model not in run.served_models:
        served = ", ".join(repr(name) for name in run.served_models[:3])
        yield f"the server does not serve {run.expected_model!r} but {served}"
    asked = sum(one.input_tokens or 0 for one in run.samples if one.concurrency == 1)
    allowed = max(CACHED_TOKENS * len(run.samples), CACHED_SHARE * asked)
    # Beside other clients the cache is theirs too, and is not emptied: that is a disturbance.
    if not run.others and run.cached_tokens is not None and run.cached_tokens > allowed:
        yield f"{run.cached_tokens} of {asked} prompt tokens came from the prefix cache (log)"
    empty = _degenerate(run)
    if run.text_counts and 2 * len(empty) > len(run.samples):
        yield (
            f"degenerate text in {len(empty)} of {len(run.samples)} answers, one phrase over and "
            f"over: {empty[0].excerpt[:40]!r}"
        )
    reported, retokenized = _counts(run)
    if run.text_counts and reported and retokenized < reported * (1 - COUNTS_APART):
        yield (
            f"{reported} tokens were reported, the text holds {retokenized}: "
            "the count is not one of this text"
        )


def _degenerate(run: Measurement) -> tuple[Sample, ...]:
    return tuple(one for one in run.samples if one.repeated_share >= DEGENERATE)


def _counts(run: Measurement) -> tuple[int, int]:
    counted = [part for part in run.passes if part.retokenized_tokens is not None]
    reported = sum(part.output_tokens for part in counted)
    return reported, sum(part.retokenized_tokens or 0 for part in counted)


def cached(one: Sample) -> bool:
    """Say whether the prefix cache answered for a part of the prompt beyond the chat template."""
    if not one.cached_tokens or not one.input_tokens:
        return False
    return one.cached_tokens > max(CACHED_TOKENS, CACHED_SHARE * one.input_tokens)


def disturbances(run: Measurement) -> tuple[str, ...]:
    """Return what ran beside a run or held it back, so that its numbers prove nothing."""
    found: list[str] = []
    if run.others:
        found.append(f"{run.others} requests of other clients ran at the same time")
    for gpu in run.gpus:
        bad = sorted(set(gpu.throttled) & BAD_THROTTLES)
        if bad:
            found.append(f"GPU {gpu.index} was held back while busy: {', '.join(bad)}")
    return tuple(found)


def remarks(run: Measurement) -> tuple[str, ...]:
    """Return what a reader should know of a valid run."""
    found = list(run.notes)
    late = sum(len(one.gaps_ms) > 1 and one.tok_s is None for one in run.samples)
    if late:
        found.append(f"{late} of {len(run.samples)} answers were read in bursts: no pace of theirs")
    looped = _degenerate(run)
    if looped and run.text_counts:
        found.append(f"{len(looped)} of {len(run.samples)} answers ended in a loop of one phrase")
    reported, retokenized = _counts(run)
    if reported and retokenized > reported * (1 + COUNTS_APART):
        found.append(
            f"the text re-encodes to {retokenized} tokens, the server made {reported}: "
            "this tokenizer does not round-trip, so that check says nothing"
        )
    if not run.text_counts:
        found.append("dummy weights: the text was not judged")
    return tuple(found)
