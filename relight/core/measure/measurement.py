"""What a benchmark measured: one sample a request, and everything that makes it comparable."""

from __future__ import annotations

from pydantic import Field

from relight.core.model import Frozen

CONCURRENT_PROBE = 1
"""The concurrency of a pass whose requests follow each other."""


class Sample(Frozen):
    """One request, measured; times in ms, `None` where the tool cannot know.

    `output_tokens` is the server's count, never a count of chunks. `rounds`, `step_ms` and
    `tokens_per_step` are decode rounds (verify rounds with speculation) as `rounds` recovers
    them. `error` is empty for a request that was answered.
    """

    prompt: str
    concurrency: int = Field(default=CONCURRENT_PROBE, ge=1)
    repeat: int = Field(default=0, ge=0)
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int = 0
    ttft_ms: float | None = None
    e2e_ms: float = 0.0
    tok_s: float | None = None
    rounds: int = 0
    step_ms: float | None = None
    tokens_per_step: float | None = None
    stalls: int = 0
    gaps_ms: tuple[float, ...] = ()
    gap_tokens: tuple[int, ...] = ()
    finish: str = ""
    model: str = ""
    text_sha256: str = ""
    excerpt: str = ""
    repeated_share: float = Field(default=0.0, ge=0, le=1)
    error: str = ""


class Pass(Frozen):
    """All requests at one concurrency: wall seconds (ramp and tail included), tokens, tok/s.

    `retokenized_tokens` are those that the tokenizer finds in the answers' text.
    """

    concurrency: int = Field(ge=1)
    seconds: float
    output_tokens: int
    retokenized_tokens: int | None = None
    throughput: float | None = None


class GpuLoad(Frozen):
    """One GPU while the benchmark ran; link figures are of busy samples only.

    `link_gen` is the highest PCIe generation seen while the GPU was busy (utilization >= 50 %),
    `link_share` the share of busy samples at it, `link_possible` the lower of what GPU and host
    can do. `throttled` names the reasons that the driver gave while busy.
    """

    index: int
    name: str = ""
    samples: int = 0
    busy: int = 0
    sm_mhz: float | None = None
    memory_mhz: float | None = None
    link_gen: int | None = None
    link_share: float | None = None
    link_possible: int | None = None
    link_width: int | None = None
    link_width_possible: int | None = None
    throttled: tuple[str, ...] = ()
    temperature_start: float | None = None
    temperature_end: float | None = None


class Measurement(Frozen):
    """One run of one tool against one server.

    `subject` names what was served (model, dtype, context length, ...): numbers of unlike
    subjects are never compared. `speculation` holds the draft settings: where they differ, tokens
    per step may differ too. `others` is the most requests of other clients that ran beside ours;
    None where the engine did not say. `exit` is the status of a declared command.
    """

    tool: str
    tool_version: str
    backend: str
    prompts_sha256: str = ""
    started: str = ""
    seconds: float = 0.0
    subject: dict[str, str] = {}
    speculation: dict[str, str] = {}
    expected_model: str = ""
    served_models: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    passes: tuple[Pass, ...] = ()
    accept_len: float | None = None
    log_step_ms: float | None = None
    others: int | None = None
    cached_tokens: int | None = None
    """Prompt tokens of the whole run that the engine's log says came from the prefix cache."""
    round_trip_ms: float | None = None
    text_counts: bool = True
    """False where the weights are dummies, so that nonsense proves nothing."""
    gpus: tuple[GpuLoad, ...] = ()
    cpu_pressure: float | None = None
    """Share of the run in which something on the host waited for a CPU; None where unknown."""
    cpu_wait: float | None = None
    """Share of it that the server's own thread which waited longest did; None where unknown."""
    exit: int | None = None
    output_tail: str = ""
    notes: tuple[str, ...] = ()
