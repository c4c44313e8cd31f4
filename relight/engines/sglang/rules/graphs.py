"""Rules for CUDA graphs and the warm-up request."""

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import (
    NO_PROXY,
    graph_off,
    prefill_graph_off,
)


def _compiled(match: re.Match[str], scene: Scene) -> Remedy:
    if scene.arguments.get("enable_torch_compile"):
        return Remedy(
            drop=("enable-torch-compile",), words="Leave out --enable-torch-compile.", auto="safe"
        )
    return prefill_graph_off(match, scene)


RULES: tuple[Rule, ...] = (
    Rule(
        "graph.prefill",
        FailureClass.GRAPH_CAPTURE,
        (
            "piecewise cuda graph failed",
            "pcg capture",
            "fail when using backend",
            "capture prefill cuda graph failed",
            "breakable cuda graph",
            "piecewise cuda graph",
            "bcg output",
            "prefill cuda graph",
            "--disable-piecewise-cuda-graph to your launch",
        ),
        "a prefill CUDA graph failed",
        prefill_graph_off,
        regex(
            r"Piecewise CUDA Graph failed|PCG capture stream|Fail when using backend|"
            r"Capture prefill CUDA graph failed|BCG output|add --disable-piecewise-cuda-graph|"
            r"(?:Error|Exception): .*(?:breakable|piecewise|prefill) cuda ?graph|"
            r"(?:piecewise|prefill|breakable) cuda graph .*(?:crash|fail|error|not compatible)"
        ),
        regex(r"out of memory|is disabled|Disable |gloo|^INFO"),
        tier=Tier.CONTEXT,
        flag="disable-piecewise-cuda-graph",
    ),
    Rule(
        "graph.capture",
        FailureClass.GRAPH_CAPTURE,
        (
            "graph failed",
            "during cuda graph capture",
            "during graph capture",
            "stream is capturing",
            "stream capture",
            "cudaerrorstreamcapture",
            "cuda_error_stream_capture",
            "graph capture",
            "cudagraph",
        ),
        "CUDA graphs could not be captured",
        graph_off,
        regex(
            r"Capture .*graph failed|(?:Error|Exception|not permitted|fail).*(?:stream is "
            r"capturing|"
            r"stream capture|StreamCapture|STREAM_CAPTURE)|not permitted when stream is capturing|"
            r"(?:error|exception|fail|cannot).*(?:during|in) (?:cuda )?graph capture"
        ),
        regex(r"gloo|Timed out waiting|Connection cl|out of memory|hint|possible"),
        tier=Tier.FRAME,
        flag="disable-cuda-graph",
    ),
    Rule(
        "graph.compile",
        FailureClass.GRAPH_CAPTURE,
        (
            "torch._dynamo.exc",
            "torch._inductor.exc",
            "backendcompilerfailed",
            "inductorerror",
            "loweringexception",
            "torchruntimeerror",
            "internaltorchdynamoerror",
        ),
        "torch.compile failed while graphs were prepared",
        _compiled,
        regex(
            r"torch\._(?:dynamo|inductor)\.exc\.\w+|BackendCompilerFailed|InductorError|"
            r"LoweringException|TorchRuntimeError|InternalTorchDynamoError"
        ),
        regex(r"config\.suppress|out of memory|OutOfMemory"),
        tier=Tier.CONTEXT,
        flag="enable-torch-compile",
    ),
    Rule(
        "graph.hang",
        FailureClass.GRAPH_CAPTURE,
        ("watchdog timeout",),
        "capturing CUDA graphs makes no progress",
        graph_off,
        stages=frozenset({Stage.CAPTURE}),
        serving=False,
        flag="disable-cuda-graph",
    ),
    Rule(
        "graph.memory_fault",
        FailureClass.GRAPH_CAPTURE,
        (
            "illegal memory access",
            "device-side assert",
            "misaligned address",
            "unspecified launch",
            "cublas_status_execution_failed",
            "cublas_status_internal_error",
        ),
        "a kernel failed while CUDA graphs were captured",
        graph_off,
        tier=Tier.CONTEXT,
        stages=frozenset({Stage.CAPTURE}),
        serving=False,
        flag="disable-cuda-graph",
    ),
    Rule(
        "warmup.proxy",
        FailureClass.WARMUP_FAILED,
        ("model_info", "/generate", "/health"),
        "the server's request to itself was answered by a proxy",
        NO_PROXY,
        re.compile(
            r'"(?:GET|POST) http://\S+/(?:get_)?(?:model_info|generate|health\w*) '
            r'HTTP/[\d.]+" [45]\d\d|'
            r"(?:proxy|Proxy|403|502|407).*(?:get_)?model_info"
        ),
        regex(r"^\s*INFO: "),
    ),
    Rule(
        "warmup.failed",
        FailureClass.WARMUP_FAILED,
        (
            "warmup error",
            "warmup failed",
            "warm up failed",
            "warmup request failed",
            "warmup timed out",
            "failed to warm up",
        ),
        "the warm-up request failed",
        NO_PROXY,
        regex(r"warm ?-?up (?:error|failed|request failed|timed out)|failed to warm ?up"),
        regex(r"deepgemm|deep_gemm"),
        tier=Tier.FRAME,
    ),
    Rule(
        "warmup.self",
        FailureClass.WARMUP_FAILED,
        ("assert res.status_code == 200", "res.status_code"),
        "the warm-up request was refused",
        NO_PROXY,
        regex(r"assert res\.status_code == 200|AssertionError: res=<Response \["),
        tier=Tier.FRAME,
        serving=False,
    ),
)
