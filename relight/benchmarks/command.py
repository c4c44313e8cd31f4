"""A declared command in place of a benchmark: its exit code decides.

It runs on the host, in the folder of the login, and finds the server in RELIGHT_BASE_URL and
RELIGHT_MODEL. 0 accepts the release; anything else fails it. What it prints is kept, cut.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from relight.benchmarks import Report, Target
from relight.connections import Connection
from relight.core.measure.chat_stream import printable
from relight.core.measure.measurement import Measurement
from relight.core.preset import Benchmark
from relight.errors import UsageError

NAME = "command"
VERSION = "1"
LIMIT_S = 600.0
TAIL = 4000
TIMED_OUT = 124


def measure(target: Target, plan: Benchmark, connection: Connection, report: Report) -> Measurement:
    """Run the preset's `benchmark.command` on the host; ten minutes are its limit.

    Raises UsageError when the preset declares none.
    """
    if not plan.command:
        raise UsageError("benchmark.tool is command, but benchmark.command is not set")
    begun = time.monotonic()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    report(f"running {printable(plan.command, 60)}")
    environment = {"RELIGHT_BASE_URL": target.base_url, "RELIGHT_MODEL": target.model}
    try:
        result = connection.run(plan.command, timeout=LIMIT_S, environment=environment)
        code, output = result.exit, result.out + result.err
    except TimeoutError:
        code, output = TIMED_OUT, f"no end within {LIMIT_S:.0f} s"
    return Measurement(
        tool=NAME,
        tool_version=VERSION,
        backend="exit code",
        started=started,
        seconds=time.monotonic() - begun,
        subject=dict(target.subject),
        expected_model=target.model,
        exit=code,
        output_tail=_printable_lines(output[-TAIL:]),
    )


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line, TAIL) for line in text.splitlines())
