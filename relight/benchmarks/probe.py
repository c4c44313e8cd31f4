"""The probe: a few chat requests, one after the other, through the connection itself.

For hosts without bench_serving, and for the one number that operators quote: the `seed` prompt
(a red-black tree in Python, 512 tokens, temperature 0.6). Never compared with another tool.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relight.benchmarks import Report, Target
from relight.benchmarks.chat import ask, body
from relight.benchmarks.host import watch
from relight.benchmarks.prompts import Prompt, digest, shipped
from relight.benchmarks.server import flush, get, open_client
from relight.connections import Connection
from relight.core.measure.chat_stream import sample
from relight.core.measure.decode_lines import contents, graph_note, others, summarize
from relight.core.measure.loads import running_now, served_models
from relight.core.measure.measurement import Measurement, Pass, Sample
from relight.core.measure.rounds import limit
from relight.core.measure.run_plan import cycle, since
from relight.core.measure.speculation import draft_settings
from relight.core.preset import Benchmark

if TYPE_CHECKING:
    import httpx

NAME = "probe"
VERSION = "1"
REQUEST_LIMIT_S = 180.0
WHOLE_LIMIT_S = 600.0
ANSWER_TOKENS = 192
"""Length of every answer but the seed's, which is as long as operators quote it."""


def measure(target: Target, plan: Benchmark, connection: Connection, report: Report) -> Measurement:
    """Measure one server with `plan.requests` chat requests, one after the other.

    A cache is flushed only where nobody else is served; one short request warms up.
    """
    prompts = tuple(prompt for prompt in shipped() if prompt.kind != "long")
    asked = cycle(prompts, plan.requests)
    begun = time.monotonic()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with open_client(target, connection) as client, watch(connection, target.pids) as host:
        before = running_now(get(client, target.endpoints.load)[0])
        listed, round_trip = get(client, target.endpoints.models)
        notes = [flush(client, before)]
        report("warming up")
        ask(client, target.endpoints.chat, body(target.model, _WARM_UP, 8), REQUEST_LIMIT_S)
        known = contents(target.batches())
        samples = _requests(client, target, plan, asked, report)
        gpus, cpu = host.loads(), host.cpu()
        after = running_now(get(client, target.endpoints.load)[0])
    lines = summarize(since(contents(target.batches()), known), 1)
    return Measurement(
        tool=NAME,
        tool_version=VERSION,
        backend="chat",
        prompts_sha256=digest(tuple(prompt for prompt, _ in asked)),
        started=started,
        seconds=time.monotonic() - begun,
        subject={**target.subject, "max_tokens": str(plan.max_tokens)},
        speculation=draft_settings(target.flags),
        expected_model=target.model,
        served_models=served_models(listed),
        samples=samples,
        passes=(_pass(samples),),
        accept_len=lines.accept_len,
        log_step_ms=lines.step_ms,
        others=others(lines.running, 1, before, after),
        cached_tokens=lines.cached_tokens,
        round_trip_ms=round_trip,
        gpus=gpus,
        cpu_pressure=cpu.pressure,
        cpu_wait=cpu.wait,
        text_counts=target.flags.get("load-format") != "dummy",
        notes=tuple(note for note in (*notes, graph_note(lines)) if note),
    )


_WARM_UP = Prompt(name="warm-up", kind="prose", text="Name three rivers.")


def _requests(
    client: httpx.Client,
    target: Target,
    plan: Benchmark,
    asked: Sequence[tuple[Prompt, int]],
    report: Report,
) -> tuple[Sample, ...]:
    most = limit(target.flags)
    samples: list[Sample] = []
    begun = time.monotonic()
    for number, (prompt, repeat) in enumerate(asked, start=1):
        left = WHOLE_LIMIT_S - (time.monotonic() - begun)
        if left <= 0:
            why = f"not sent: the run's {WHOLE_LIMIT_S:.0f} s were over"
            samples.append(Sample(prompt=prompt.name, repeat=repeat, error=why))
            continue
        tokens = min(plan.max_tokens, prompt.max_tokens or ANSWER_TOKENS)
        request = body(target.model, prompt, tokens)
        marks = ask(client, target.endpoints.chat, request, min(REQUEST_LIMIT_S, left))
        samples.append(sample(prompt.name, marks, most, repeat))
        report(_told(samples[-1], number, len(asked)))
    return tuple(samples)


def _told(one: Sample, number: int, of: int) -> str:
    if one.error:
        return f"request {number} of {of} ({one.prompt}): {one.error}"
    speed = f"{one.tok_s:.1f} tok/s" if one.tok_s else f"{one.output_tokens} tokens"
    return f"request {number} of {of} ({one.prompt}): {speed}"


def _pass(samples: Sequence[Sample]) -> Pass:
    seconds = sum(one.e2e_ms for one in samples) / 1000
    tokens = sum(one.output_tokens for one in samples)
    return Pass(
        concurrency=1,
        seconds=seconds,
        output_tokens=tokens,
        throughput=tokens / seconds if seconds > 0 else None,
    )
