"""Scenarios of a server that comes up: it crashes, hangs, answers nonsense, or is slow."""

from __future__ import annotations

from relight.standin.scenarios.kinds import SERVE, Scenario

_RUN = ("managers/scheduler.py", "result = self.run_batch(batch)")
_ILLEGAL = (
    "torch.AcceleratorError: CUDA error: an illegal memory access was encountered\nCUDA kernel "
    "errors might be asynchronously reported at some other API call, so the stacktrace below might "
    "be incorrect."
)


def _crash(name: str, summary: str, *, after: float = 0.0, error: str = _ILLEGAL) -> Scenario:
    return Scenario(
        name,
        summary,
        "runtime_crash",
        "serve",
        SERVE,
        error=error,
        frames=(("managers/scheduler.py", "scheduler.event_loop_overlap()"), _RUN),
        after=after,
    )


def _odd(name: str, taxonomy: str, summary: str, *, after: float = 0.0) -> Scenario:
    return Scenario(name, summary, taxonomy, "serve", SERVE, after=after)


SERVING = (
    _crash("runtime_crash", "crashes at the first request after the ready line"),
    _crash("crash_after_ready", "crashes soon after the ready line, asked or not", after=0.5),
    _crash("crash_on_long_prompt", "crashes at the first prompt of 256 tokens", after=256.0),
    _crash("crash_on_concurrency", "crashes at two requests at once", after=2.0),
    _crash(
        "crash_within_settle",
        "answers well, then its idle self-check kills it two seconds after the last answer",
        after=2.0,
        error="ValueError: token_to_kv_pool_allocator memory leak detected! "
        "self.max_total_num_tokens=270331, available_size=644, evictable_size=269628, "
        "protected_size=0",
    ),
    _odd(
        "hang_serving",
        "runtime_hang",
        "health answers 200, but a request is never answered",
    ),
    _odd(
        "scheduler_hang",
        "runtime_hang",
        "the scheduler stops after the ready line: health 503 late, /v1/models 200",
    ),
    Scenario(
        "watchdog_timeout",
        "a forward pass never ends and the watchdog takes the server down",
        "runtime_hang",
        "serve",
        SERVE,
        error="Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)",
        after=3.0,
    ),
    _odd("garbage", "wrong_output", "every answer is exclamation marks, with HTTP 200"),
    _odd("wrong_output", "wrong_output", "every answer is a salad of tokens, canaries too"),
    _odd("empty_answers", "wrong_output", "every answer is empty, with HTTP 200"),
    Scenario(
        "nan_logits",
        "one line about NaN, then wrong answers",
        "wrong_output",
        "serve",
        SERVE,
        before=("Detected errors during sampling! NaN in the logits.",),
        cured_by=("kv-cache-dtype=auto", "kv-cache-dtype=bf16"),
        needs=("kv-cache-dtype",),
    ),
    _odd("wrong_model", "wrong_output", "another model answers, under another name"),
    _odd("below_goal", "below_goal", "accept length 1.00 and no CUDA graph: slow without an error"),
    _odd("slow", "below_goal", "ten times slower than it should be"),
    Scenario(
        "retraction",
        "the KV cache is too small for its load: requests are retracted",
        "below_goal",
        "serve",
        SERVE,
        before=(
            "KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_tokens_gained: 512",
        ),
    ),
)
