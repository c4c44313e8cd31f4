"""The verdict under simulated restarts: how often it is wrong, how often it finds a loss."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from relight.core.measure.comparison import Answer
from relight.core.measure.measurement import Measurement, Sample
from relight.core.measure.verdict import judge

PAIRS = 500
RESTART_NOISE = 0.01
REQUEST_NOISE = 0.007


def run_of(
    rng: random.Random, prompts: int, *, slower: float = 0.0, noise: float = REQUEST_NOISE
) -> Measurement:
    """Return one run after one start of a server with 57 ms a round and 3 tokens a round.

    Restart noise is 1 %, or the noise of requests where that is more.
    """
    restart = rng.gauss(0, max(RESTART_NOISE, noise))
    samples = []
    for number in range(prompts):
        step = 57.0 * (1 + slower) * (1 + restart) * (1 + rng.gauss(0, noise))
        tokens = 2.5 + number % 4 / 4 + rng.gauss(0, 0.01)
        samples.append(
            Sample(
                prompt=f"p{number}",
                output_tokens=160,
                finish="length",
                step_ms=step,
                tokens_per_step=tokens,
                rounds=50,
                tok_s=1000 * tokens / step,
            )
        )
    return Measurement(tool="probe", tool_version="1", backend="chat", samples=tuple(samples))


def answers(
    prompts: int, slower: float, noise: float = REQUEST_NOISE, pairs: int = PAIRS
) -> Counter[Answer]:
    """Return the answers over many pairs of a first known-good run and one candidate."""
    rng = random.Random(20261129 + prompts)
    return Counter(
        judge(
            run_of(rng, prompts, slower=slower, noise=noise), [run_of(rng, prompts, noise=noise)]
        ).answer
        for _ in range(pairs)
    )


@pytest.mark.parametrize("prompts", [4, 8])
def test_identical_configs_are_rarely_called_different(prompts: int) -> None:
    """On a first baseline under 3 % of identical pairs are better or worse, most are same."""
    found = answers(prompts, 0.0)
    assert found[Answer.BETTER] + found[Answer.WORSE] < 0.03 * PAIRS
    assert found[Answer.SAME] > 0.5 * PAIRS


@pytest.mark.parametrize("prompts", [4, 8])
def test_a_loss_of_eight_percent_is_found(prompts: int) -> None:
    """A server that became 8 % slower is worse in more than 90 % of the pairs, better in none."""
    found = answers(prompts, 0.08 / 0.92)
    assert found[Answer.WORSE] > 0.9 * PAIRS
    assert found[Answer.BETTER] == 0


@pytest.mark.parametrize(("noise", "found_at_least"), [(0.05, 0.95), (0.1, 0.8)])
def test_an_unsteady_host_is_seen_as_one(noise: float, found_at_least: float) -> None:
    """Where requests and restarts scatter by 5 or 10 %, identical configs stay undecided.

    A server at half the speed is found nearly always all the same.
    """
    pairs = 200
    found = answers(8, 0.0, noise, pairs)
    assert found[Answer.BETTER] + found[Answer.WORSE] < 0.03 * pairs
    assert answers(8, 1.0, noise, pairs)[Answer.WORSE] > found_at_least * pairs
