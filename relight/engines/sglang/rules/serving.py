"""Rules for a server that runs: it crashes, hangs, errs, or is below its goal."""

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import (
    CRASHED,
    RESTART,
    drop_speculation,
    tell,
)

_CANARY = Remedy(
    set={"disable-custom-all-reduce": True},
    words="Roll back. Then one by one: custom all-reduce off, no fp8 KV cache, no prefill graphs, "
    "no speculation.",
    auto="bounded",
)


def _topk(match: re.Match[str], scene: Scene) -> Remedy:
    del match
    if scene.arguments.get("speculative_eagle_topk") not in {None, 1}:
        return CRASHED.model_copy(update={"set": {"speculative-eagle-topk": 1}})
    return CRASHED


RULES: tuple[Rule, ...] = (
    Rule(
        "hang.watchdog",
        FailureClass.RUNTIME_HANG,
        (
            "watchdog timeout",
            "watchdog caught collective operation timeout",
            "collective operation timeout",
            "process group watchdog thread terminated",
            "heartbeat monitor timed out",
            "didn't respond",
            "did not respond",
        ),
        "a process made no step for longer than the watchdog allows",
        Remedy(
            raise_=("watchdog-timeout",),
            words="Start the whole group again; raise --watchdog-timeout where a first request "
            "compiles kernels; then without speculation and custom all-reduce.",
            auto="bounded",
        ),
        regex(
            r"watchdog timeout \(|Watchdog caught collective|collective operation timeout|"
            r"heartbeat monitor timed out"
        ),
        tier=Tier.CONTEXT,
    ),
    Rule(
        "hang.health",
        FailureClass.RUNTIME_HANG,
        (
            "health check failed",
            "couldn't get a response from detokenizer",
            "couldn't get a response from scheduler",
        ),
        "the server no longer answers its own health check",
        RESTART,
        regex(r"couldn't get a response|Health check failed\."),
    ),
    Rule(
        "crash.leak",
        FailureClass.RUNTIME_CRASH,
        ("memory leak detected", "mem leak detected", "pool leak"),
        "the idle self-check found the pools' accounts wrong",
        CRASHED,
        regex(r"(?:memory|mem|pool) leak detected"),
    ),
    Rule(
        "crash.assert",
        FailureClass.RUNTIME_CRASH,
        (
            "device-side assert",
            "index out of bounds",
            "assertion `",
            "cuda_kernel_assert",
            "scattergatherkernel",
            "indexing.cu",
            "indexkernel.cu",
        ),
        "a kernel's own check failed",
        _topk,
        regex(r"device-side assert|\.cu:\d+: .*Assertion `|index out of bounds|CUDA_KERNEL_ASSERT"),
    ),
    Rule(
        "crash.memory_access",
        FailureClass.RUNTIME_CRASH,
        (
            "illegal memory access",
            "misaligned address",
            "unspecified launch failure",
            "illegal instruction was encountered",
            "illegal address",
            "warp illegal",
            "hiperrorillegaladdress",
            "memory access fault by gpu",
            "segmentation fault",
            "fatal python error",
            "sigsegv",
            "core dumped",
            "cublas_status_execution_failed",
            "cublas_status_internal_error",
            "cublas_status_not_initialized",
            "cublas_status_not_supported",
            "cublas_status_invalid_value",
            "cuda error: unknown error",
            "cudaerrorlaunchfailure",
            "launch timed out",
            "cudaerrorillegaladdress",
        ),
        "a kernel touched memory that is not its own",
        _topk,
        regex(
            r"illegal (?:memory access|instruction was|address)|misaligned address|launch failure|"
            r"Memory access fault by GPU|Segmentation fault|Fatal Python error|SIGSEGV|core dumped|"
            r"CUBLAS_STATUS_(?:EXEC|INTERNAL|NOT|INVALID)|CUDA error: unknown|Illegal(?:Address)?|"
            r"cudaErrorLaunch|launch timed out"
        ),
        tier=Tier.CONTEXT,
    ),
    Rule(
        "crash.cuda",
        FailureClass.RUNTIME_CRASH,
        ("cuda error: ", "cudaerror", "hip error: "),
        "CUDA reported an error",
        _topk,
        regex(r"(?:CUDA|HIP) error: (?!out of memory|no kernel)\w|cudaError[A-Z]\w+"),
        tier=Tier.FRAME,
        serving=True,
    ),
    Rule(
        "crash.child",
        FailureClass.RUNTIME_CRASH,
        ("crashed with exit code",),
        "a child process of the server died",
        CRASHED,
        regex(r"Subprocess \S+ \(pid=\d+\) crashed with exit code"),
        tier=Tier.ECHO,
    ),
    Rule(
        "crash.sigquit",
        FailureClass.RUNTIME_CRASH,
        ("sigquit received",),
        "a child process of the server failed",
        CRASHED,
        tier=Tier.ECHO,
        serving=True,
    ),
    Rule(
        "output.nan",
        FailureClass.WRONG_OUTPUT,
        (
            "nan in the logits",
            "nan detected",
            "errors during sampling",
            "probability tensor contains either",
            "contains either `inf`, `nan`",
            "contains nan",
            "nan or inf",
            "logits contain nan",
            "nan values",
        ),
        "the model computes NaN: answers are wrong",
        _CANARY,
        regex(
            r"\bnan\b.*(?:logits|detected|probs|output|sampl)|(?:logits|detected|contains?|"
            r"sampling|occur).*\bnan\b|errors during sampling"
        ),
        regex(r"enable_nan_detection|enable-nan-detection"),
        ends=False,
    ),
    Rule(
        "goal.too_long",
        FailureClass.BELOW_GOAL,
        (
            "exceeds the maximum allowed length",
            "is longer than the model's context length",
            "requested token count exceeds",
            "exceeds the model's maximum context",
            "maximum context length is",
        ),
        "a request was longer than the server takes",
        tell(
            "A request error (HTTP 400), no failure of the server: ask for less, or serve a longer "
            "context."
        ),
        unless=regex(r"warning|--context-length"),
        ends=False,
    ),
    Rule(
        "goal.retraction",
        FailureClass.BELOW_GOAL,
        ("retract requests", "requests have been retracted", "retracted_reqs"),
        "the KV pool is full again and again: requests are put back",
        Remedy(
            lower=("max-running-requests",),
            raise_=("schedule-conservativeness",),
            words="Run fewer requests at a time, or schedule more carefully.",
            auto="bounded",
        ),
        regex(r"Retract requests|have been retracted|retracted_reqs"),
        ends=False,
        times=20,
        flag="max-running-requests",
    ),
    Rule(
        "spec.runtime",
        FailureClass.RUNTIME_CRASH,
        ("eagle_worker", "eagle_utils", "spec_utils", "ngram_worker", "multi_layer_eagle"),
        "speculative decoding failed",
        drop_speculation("Start without speculative decoding."),
        regex(r'File ".*(?:eagle\w*|spec_utils|ngram_worker)\.py'),
        tier=Tier.FRAME,
        serving=True,
    ),
)
