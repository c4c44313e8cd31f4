"""SGLang's own load generator, run on the host in the engine's own Python: nothing is installed.

Two passes with relight's prompts: one request after the other, then as many at once as the server
takes (8 at most). 0.5.23 moved the module to `sglang.benchmark.serving`; both places are tried.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from relight.benchmarks import Report, Target
from relight.benchmarks.chat import ask, body
from relight.benchmarks.host import watch
from relight.benchmarks.prompts import Prompt, digest, shipped
from relight.benchmarks.server import alone, get, open_client
from relight.connections import Connection
from relight.core.measure.bench_call import BACKEND, FIND, Call, FoundTool, Load, exports, script
from relight.core.measure.bench_record import dataset, order, progress, read
from relight.core.measure.chat_stream import printable, sample
from relight.core.measure.decode_lines import (
    beyond_warm_up,
    contents,
    graph_note,
    others,
    summarize,
)
from relight.core.measure.loads import running_now, served_models
from relight.core.measure.measurement import Measurement, Pass, Sample
from relight.core.measure.metrics import summarize as summary_of
from relight.core.measure.rounds import limit
from relight.core.measure.run_plan import answer_tokens, busy_concurrency, since, takes_long
from relight.core.measure.speculation import draft_settings
from relight.core.preset import Benchmark
from relight.errors import HostError, RelightError

if TYPE_CHECKING:
    import httpx

NAME = "bench_serving"
VERSION = "1"
PASS_LIMIT_S = 420.0
SILENCE_S = 15.0
"""Importing SGLang takes 10 to 40 s, in which the tool prints nothing."""
PACE_LIMIT_S = 60.0
ALONE = 8


def measure(target: Target, plan: Benchmark, connection: Connection, report: Report) -> Measurement:
    """Measure one server with SGLang's load generator, in two passes of about half a minute.

    Raises HostError when the engine's Python has no bench_serving, or its result cannot be read.
    """
    begun = time.monotonic()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    prompts = tuple(
        prompt for prompt in shipped() if prompt.kind != "long" or takes_long(target.context_length)
    )
    samples: list[Sample] = []
    passes: list[Pass] = []
    with _found(target, connection) as tool, open_client(target, connection) as client:
        before = running_now(get(client, target.endpoints.load)[0])
        served = served_models(get(client, target.endpoints.models)[0])
        loads = _loads(target, plan, prompts, lambda: _pace(client, target))
        known = contents(target.batches())
        with watch(connection, target.pids) as watched:
            for load in loads:
                found = _run(tool, target, load, connection, report, flush=not alone(before))
                samples += found[0]
                passes.append(found[1])
                if load is loads[0]:
                    lines = summarize(since(contents(target.batches()), known), 1)
                    cached = beyond_warm_up(lines.cached_tokens, found[0])
            gpus, cpu = watched.loads(), watched.cpu()
        after = running_now(get(client, target.endpoints.load)[0])
    most = summarize(since(contents(target.batches()), known), 1).running
    notes = (alone(before), graph_note(lines))
    return Measurement(
        tool=NAME,
        tool_version=f"{VERSION}/{tool.version}",
        backend=BACKEND,
        prompts_sha256=digest(prompts),
        started=started,
        seconds=time.monotonic() - begun,
        subject=dict(target.subject),
        speculation=draft_settings(target.flags),
        expected_model=target.model,
        served_models=served,
        samples=tuple(samples),
        passes=tuple(passes),
        accept_len=lines.accept_len,
        log_step_ms=lines.step_ms,
        others=others(most, loads[-1].concurrency, before, after),
        cached_tokens=cached,
        text_counts=target.flags.get("load-format") != "dummy",
        gpus=gpus,
        cpu_pressure=cpu.pressure,
        cpu_wait=cpu.wait,
        notes=tuple(note for note in notes if note),
    )


def _loads(
    target: Target, plan: Benchmark, prompts: tuple[Prompt, ...], pace: Callable[[], float | None]
) -> tuple[Load, ...]:
    """Return the passes; answers are as long as in the run that this one is compared with."""
    long = tuple(prompt for prompt in prompts if prompt.kind == "long")
    short = tuple(prompt for prompt in prompts if prompt.kind != "long")
    first = short[: ALONE - len(long)] + long
    before = target.before
    if before is not None and before.tool == NAME:
        tokens = max((one.output_tokens for one in before.samples), default=0)
    else:
        tokens = 0
    if not 0 < tokens <= plan.max_tokens:
        speed = pace() if before is None else summary_of(before).tok_s
        tokens = answer_tokens(speed, len(first), plan.max_tokens, target.context_length)
    single = _load("alone", first, 1, tokens)
    busy = busy_concurrency(target.running_requests)
    if busy == 1:
        return (single,)
    return (single, _load("loaded", prompts, busy, tokens))


def _pace(client: httpx.Client, target: Target) -> float | None:
    """Return the tok/s of one short answer; None where the server gives none."""
    asked = Prompt(name="pace", kind="prose", text="Name three rivers.")
    marks = ask(client, target.endpoints.chat, body(target.model, asked, 48), PACE_LIMIT_S)
    return sample(asked.name, marks, limit(target.flags)).tok_s


def _load(name: str, prompts: Sequence[Prompt], concurrency: int, tokens: int) -> Load:
    return Load(
        name=name,
        names=tuple(prompt.name for prompt in prompts),
        texts=tuple(prompt.text for prompt in prompts),
        concurrency=concurrency,
        tokens=tokens,
    )


@contextlib.contextmanager
def _found(target: Target, connection: Connection) -> Iterator[FoundTool]:
    """Find the tool and make a private folder on the host; the folder is removed at the end."""
    host = connection.address.name
    probe = "benchmark: {tool: probe} in the preset needs nothing there"
    if not target.python:
        raise HostError(host, "bench_serving needs the engine's own Python", probe)
    words = shlex.join(["-c", FIND, _tokenizer(target)])
    answer = connection.run(
        f'{exports(target.environment)}{target.python}exec "$py" {words}', timeout=60.0
    )
    told = _told(answer.out)
    module, python = printable(str(told.get("module") or ""), 80), str(told.get("python") or "")
    if not module or not python:
        why = printable(answer.err.strip().splitlines()[-1], 200) if answer.err.strip() else ""
        who = printable(python, 200) or "the engine"
        what = f"{who} has no sglang.bench_serving{f' ({why})' if why else ''}"
        raise HostError(host, what, probe)
    made = connection.control("umask 077; mktemp -d", timeout=30.0)
    folder = made.out.strip()
    if made.exit or not folder.startswith("/"):
        raise HostError(host, "no temporary folder could be made", "see TMPDIR and the disk")
    try:
        yield FoundTool(
            python=python,
            module=module,
            version=printable(str(told.get("version") or target.engine_version), 80),
            chat_template=told.get("chat_template") is True,
            folder=folder,
        )
    finally:
        with contextlib.suppress(RelightError, TimeoutError, OSError):
            connection.control(f"rm -rf -- {shlex.quote(folder)}", timeout=30.0)


def _told(text: str) -> dict[str, object]:
    try:
        found = json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {}
    return found if isinstance(found, dict) else {}


def _run(
    tool: FoundTool,
    target: Target,
    load: Load,
    connection: Connection,
    report: Report,
    *,
    flush: bool,
) -> tuple[tuple[Sample, ...], Pass]:
    host = connection.address.name
    base = f"{tool.folder}/{load.name}"
    _put(connection, f"{base}.prompts.jsonl", dataset(load.texts))
    _put(connection, f"{base}.sh", script(_call(tool, target), load, flush=flush))
    report(f"{load.name}: starting {tool.module}")
    tail = _follow(connection, f"sh {shlex.quote(base)}.sh", load, report, target.go_on)
    result = connection.run(f"cat -- {shlex.quote(base)}.jsonl", timeout=60.0)
    if result.exit:
        last = next((line for line in reversed(tail.splitlines()) if line.strip()), "no output")
        raise HostError(host, f"{tool.module} wrote no result: {printable(last.strip(), 300)}")
    names = order(load.names)
    try:
        return read(result.out, names, load.concurrency, limit(target.flags))
    except ValueError as error:
        raise HostError(host, f"{tool.module}: {error}") from None


def _call(tool: FoundTool, target: Target) -> Call:
    environment = dict(target.environment)
    headers = {name.lower(): value for name, value in target.headers.items()}
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    if bearer:
        environment["OPENAI_API_KEY"] = bearer
    return Call(
        tool=tool,
        base_url=target.base_url.rstrip("/"),
        model_path=target.model_path,
        tokenizer=_tokenizer(target),
        environment=environment,
        limit_s=PASS_LIMIT_S,
    )


def _tokenizer(target: Target) -> str:
    return str(target.flags.get("tokenizer-path") or target.model_path)


def _put(connection: Connection, path: str, text: str) -> None:
    made = connection.control(
        f"umask 077; cat > {shlex.quote(path)}", data=text.encode(), timeout=60.0
    )
    if made.exit:
        why = printable(made.err.strip(), 200)
        raise HostError(connection.address.name, f"{path} could not be written: {why}")


def _follow(
    connection: Connection, command: str, load: Load, report: Report, go_on: Callable[[], None]
) -> str:
    """Follow the tool to its end; return the last of its output. Ended when its time is over."""
    begun = told = time.monotonic()
    stream = connection.follow(command)
    tail, done = "", 0
    try:
        while time.monotonic() - begun < PASS_LIMIT_S + 30:
            go_on()
            data = stream.read(1.0)
            now = time.monotonic()
            if data is not None and not data:
                break
            tail = (tail + (data or b"").decode(errors="replace"))[-20000:]
            so_far = progress(tail, len(load.names))
            news = so_far > done and (now - told > 1.0 or so_far == len(load.names))
            if news or now - told > SILENCE_S:
                doing = f"{so_far} of {len(load.names)} requests" if so_far else "the tool loads"
                report(f"{load.name}: {doing} ({now - begun:.0f} s)")
                done, told = max(done, so_far), now
    finally:
        stream.close()
    return tail
