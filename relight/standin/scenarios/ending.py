"""Scenarios of a stop that does not end as it should."""

from __future__ import annotations

from relight.standin.scenarios.kinds import SERVE, Scenario

ENDING = (
    Scenario(
        "drain_never_ends",
        "SIGTERM drains for ever: one request is never forgotten; SIGINT still ends it",
        "runtime_hang",
        "stop",
        SERVE,
    ),
    Scenario(
        "stop_ignored",
        "SIGTERM and SIGINT change nothing: only SIGKILL ends it",
        "runtime_hang",
        "stop",
        SERVE,
    ),
    Scenario(
        "slow_drain",
        "after SIGTERM it takes three seconds more to be gone",
        "runtime_hang",
        "stop",
        SERVE,
        after=3.0,
    ),
)
