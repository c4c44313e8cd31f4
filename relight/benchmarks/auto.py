"""For a preset that names no tool: bench_serving where the host can run it, else the probe."""

from __future__ import annotations

from relight.benchmarks import Report, Target, load
from relight.connections import Connection
from relight.core.measure.measurement import Measurement
from relight.core.preset import Benchmark
from relight.errors import HostError

NAME = "auto"
VERSION = "1"


def measure(target: Target, plan: Benchmark, connection: Connection, report: Report) -> Measurement:
    """Measure with the better tool of the two; why it was the probe is a note of its run."""
    try:
        return load("bench_serving").measure(target, plan, connection, report)
    except (HostError, TimeoutError) as error:
        said = error.what if isinstance(error, HostError) else str(error)
    why = f"measured by the probe: {said}"
    report(why)
    run = load("probe").measure(target, plan, connection, report)
    return run.model_copy(update={"notes": (why, *run.notes)})
