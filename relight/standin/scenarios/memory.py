"""Scenarios of GPU memory that runs out: weights, pools, capture, serving."""

from __future__ import annotations

from relight.standin.scenarios.devices import CAPTURE_HINTS, NO_DECODE_GRAPH, NO_PREFILL_GRAPH
from relight.standin.scenarios.kinds import RAISE, SERVE, Scenario

_RUNNER = "model_executor/model_runner.py"
_TRIED = (
    "CUDA out of memory. Tried to allocate {size}. GPU 0 has a total capacity of 47.40 GiB of "
    "which {free} MiB is free. Including non-PyTorch memory, this process has {used} GiB memory "
    "in use. Of the allocated memory {used} GiB is allocated by PyTorch, and 12.34 MiB is reserved "
    "by PyTorch but unallocated."
)

MEMORY = (
    Scenario(
        "oom_weights",
        "the weights do not fit",
        "oom_weights",
        "load",
        RAISE,
        error="torch.OutOfMemoryError: "
        + _TRIED.format(size="170.00 MiB", free="97.94", used="47.29"),
        frames=(
            (_RUNNER, "self.model = self.loader.load_model("),
            ("model_loader/loader.py", "model = _initialize_model("),
            ("layers/linear.py", "self.quant_method.create_weights("),
        ),
    ),
    Scenario(
        "oom_pool",
        "the weights leave no room for the KV cache",
        "oom_pool",
        "pool",
        RAISE,
        error="{no_room}",
        frames=(
            (_RUNNER, "self.init_memory_pool(pre_model_load_memory)"),
            ("model_executor/model_runner_kv_cache_mixin.py", "raise RuntimeError(msg)"),
        ),
    ),
    Scenario(
        "oom_mamba_state",
        "no room for the state of hybrid layers",
        "oom_pool",
        "pool",
        RAISE,
        error="RuntimeError: Not enough GPU memory for hybrid (mamba/linear-attention) state "
        "cache. Computed max_mamba_cache_size=0 (total_rest_memory=0.50 GB, "
        "mamba_cache_per_req=150.00 MB). Try: (1) reduce --max-running-requests, (2) increase "
        "--mem-fraction-static, (3) reduce --speculative-num-draft-tokens, or (4) use GPUs with "
        "more memory.",
        frames=((_RUNNER, "self.init_memory_pool(pre_model_load_memory)"),),
    ),
    Scenario(
        "oom_capture",
        "memory runs out while decode graphs are captured",
        "oom_graph_capture",
        "capture",
        RAISE,
        error="Exception: Capture cuda graph failed: "
        + _TRIED.format(size="448.00 MiB", free="212.50", used="47.18"),
        frames=(
            (_RUNNER, "self.graph_runner = CudaGraphRunner(self)"),
            ("model_executor/cuda_graph_runner.py", "raise Exception("),
        ),
        hints=CAPTURE_HINTS,
        cured_by=NO_DECODE_GRAPH,
    ),
    Scenario(
        "oom_prefill_capture",
        "memory runs out while prefill graphs are captured",
        "oom_graph_capture",
        "prefill_capture",
        RAISE,
        error="torch.OutOfMemoryError: "
        + _TRIED.format(size="1.19 GiB", free="51.94", used="47.34"),
        frames=(
            (_RUNNER, "self.init_piecewise_cuda_graphs()"),
            (
                "model_executor/piecewise_cuda_graph_runner.py",
                "self.capture_one_batch_size(num_tokens)",
            ),
        ),
        cured_by=NO_PREFILL_GRAPH,
    ),
    Scenario(
        "oom_runtime",
        "ready, then a prefill of 256 tokens or a second request at once finds no memory",
        "oom_runtime",
        "serve",
        SERVE,
        error="torch.OutOfMemoryError: "
        + _TRIED.format(size="594.00 MiB", free="310.94", used="47.08"),
        frames=(("managers/scheduler.py", "result = self.run_batch(batch)"),),
        before=("Prefill out of memory. Try to lower your batch size.",),
        after=256.0,
    ),
)
