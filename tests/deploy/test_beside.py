"""What is asked beside the proof is asked once more where the server was too busy to answer it."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from relight import engines
from relight.core.failure import Diagnosis, FailureClass
from relight.core.preset import Readiness
from relight.deploy.watch import Watch


@dataclass
class Asked:
    """Stands for the question beside: its answers, one a call."""

    answers: list[bool]
    asked: list[httpx.Client] = field(default_factory=list)

    def __call__(self, http: httpx.Client) -> bool:
        """Give the next answer."""
        self.asked.append(http)
        return self.answers[len(self.asked) - 1]


WRONG = Diagnosis(failure=FailureClass.WRONG_OUTPUT, summary="garbage")


@pytest.mark.parametrize(
    ("proved", "answers", "times"),
    [(None, [True], 1), (None, [False, True], 2), (None, [False, False], 2), (WRONG, [False], 1)],
)
def test_an_answer_that_did_not_come_is_asked_once_more(
    proved: Diagnosis | None, answers: list[bool], times: int
) -> None:
    """After a good proof only, when the server has compiled; never a third time."""
    beside = Asked(answers)
    target = cast("Any", SimpleNamespace(engine=engines.load("sglang")))
    watch = Watch(target, cast("Any", None), 1, 1, 1, Readiness(), beside=beside)
    proof = cast("Any", SimpleNamespace(usable=lambda: proved))
    with httpx.Client() as http:
        assert watch._asked(proof, http) == proved
    assert len(beside.asked) == times
