"""Who holds the port that a launch should hold, and what it means when that is not the launch."""

from __future__ import annotations

from relight.core.failure import Diagnosis, FailureClass
from relight.core.observed import Pulse


def misplaced(pulse: Pulse, port: int) -> Diagnosis | None:
    """Return what is wrong with a launch that says it is ready; None when it holds its port."""
    if pulse.foreign:
        return Diagnosis(failure=FailureClass.PORT_IN_USE, summary=_held(pulse, port))
    if pulse.state != "running":
        return Diagnosis(
            failure=FailureClass.RUNTIME_CRASH,
            summary=f"its process is gone (exit status {pulse.exit}) after the ready line",
        )
    if not pulse.owns_port:
        return Diagnosis(
            failure=FailureClass.PORT_IN_USE,
            summary=f"it says that it is ready, but port {port} is not its own",
        )
    return None


def with_holder(told: Diagnosis, pulse: Pulse, port: int) -> Diagnosis:
    """Return a diagnosis that names who has the port: the engine only knows that somebody does."""
    if told.failure is not FailureClass.PORT_IN_USE or not pulse.foreign:
        return told
    return told.model_copy(update={"summary": _held(pulse, port)})


def _held(pulse: Pulse, port: int) -> str:
    return f"port {port} is held by another process: {pulse.foreign[0]}"
