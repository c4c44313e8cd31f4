"""GPUs that flags spread over, and the limits that a server tells of itself."""

from __future__ import annotations

from typing import Any

import pytest

from relight.core.engine import Limits, Spread
from relight.core.flags import Flags
from relight.engines import load
from relight.engines.sglang.names import canonical

ENGINE = load("sglang")


@pytest.mark.parametrize(
    ("flags", "gpus", "written"),
    [
        ({}, 1, ()),
        ({"tp-size": 2}, 2, ("tp-size",)),
        ({"tp": 2, "pp": 2, "dp": 2}, 8, ("tp", "pp", "dp")),
        ({"tensor-parallel-size": 4, "dp-size": 4, "enable-dp-attention": True}, 4, None),
        ({"tp-size": 2, "dp-size": 2, "enable-dp-attention": False}, 4, None),
    ],
)
def test_flags_spread_over_gpus(flags: Flags, gpus: int, written: tuple[str, ...] | None) -> None:
    """Tensor x pipeline x data, under any spelling; attention of data shares tensor's GPUs."""
    found = ENGINE.spread(flags)
    assert found is not None
    assert found.gpus == gpus
    assert found == Spread(
        gpus=gpus, flags=found.flags if written is None else written, by="tp-size"
    )


@pytest.mark.parametrize("flags", [{"tp-size": 2, "nnodes": 2}, {"tp-size": "2x"}, {"tp": True}])
def test_what_cannot_be_counted_is_not(flags: Flags) -> None:
    """Several nodes, and sizes that are no numbers."""
    assert ENGINE.spread(flags) is None


@pytest.mark.parametrize(
    ("info", "limits"),
    [
        ({}, Limits()),
        ({"max_running_requests": 16}, Limits(running_requests=16)),
        (
            # As ct129 told: 16 asked, 10 fitted.
            {
                "max_running_requests": 16,
                "max_req_input_len": 262138,
                "context_length": None,
                "internal_states": [{"effective_max_running_requests_per_dp": 10}],
            },
            Limits(running_requests=10, context_length=262144),
        ),
        (
            {"internal_states": [{"effective_max_running_requests_per_dp": 4}] * 2},
            Limits(running_requests=8),
        ),
        ({"internal_states": "x", "max_req_input_len": True, "context_length": -1}, Limits()),
        ({"internal_states": [None, {"effective_max_running_requests_per_dp": "9"}]}, Limits()),
    ],
)
def test_limits_are_what_the_scheduler_says(info: dict[str, Any], limits: Limits) -> None:
    """Effective numbers before asked ones, workers summed; anything odd is unknown."""
    assert ENGINE.limits(info) == limits


def test_what_makes_another_subject_has_one_name_each() -> None:
    """Compared flags are written as the engine's canonical names."""
    assert [canonical(name) for name in ENGINE.compared] == list(ENGINE.compared)
