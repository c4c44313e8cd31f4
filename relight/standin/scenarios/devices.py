"""Scenarios of GPUs, kernels and graph capture."""

from __future__ import annotations

from relight.standin.scenarios.kinds import HANG, RAISE, Scenario

_RUNNER = ("model_executor/model_runner.py", "self.graph_runner = CudaGraphRunner(self)")
_CAPTURE = ("model_executor/cuda_graph_runner.py", "raise Exception(")
_AR = "distributed/device_communicators/custom_all_reduce.py"
NO_DECODE_GRAPH = (
    "disable-cuda-graph",
    "disable-decode-cuda-graph",
    "cuda-graph-backend-decode=disabled",
)
NO_PREFILL_GRAPH = (
    "disable-piecewise-cuda-graph",
    "disable-prefill-cuda-graph",
    "cuda-graph-backend-prefill=disabled",
)
CAPTURE_HINTS = """Possible solutions:
1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)
2. set --{max_bs_flag} to a smaller value (e.g., 16)
3. disable torch compile by not using --enable-torch-compile
4. disable CUDA graph by --{no_graph_flag}. (Not recommended. Huge performance loss)
Open an issue on GitHub https://github.com/sgl-project/sglang/issues/new/choose \
"""

DEVICES = (
    Scenario(
        "p2p_hang",
        "the GPUs cannot reach each other's memory: silence in torch distributed",
        "p2p_allreduce",
        "dist",
        HANG,
        cured_by=("disable-custom-all-reduce",),
    ),
    Scenario(
        "p2p_unsupported",
        "the GPUs refuse peer access",
        "p2p_allreduce",
        "dist",
        RAISE,
        error="RuntimeError: CUDART error: peer access is not supported between these two devices",
        frames=((_AR, "ops.init_custom_ar("),),
        cured_by=("disable-custom-all-reduce",),
    ),
    Scenario(
        "allreduce_capture",
        "the custom all-reduce fails while graphs are captured",
        "p2p_allreduce",
        "capture",
        RAISE,
        error="RuntimeError: invalid argument",
        frames=(_RUNNER, (_AR, "ops.register_graph_buffers(self._ptr, handles, offsets)")),
        cured_by=("disable-custom-all-reduce",),
    ),
    Scenario(
        "gpu_arch",
        "a kernel was not built for this GPU",
        "gpu_arch_unsupported",
        "capture",
        RAISE,
        error="Exception: Capture cuda graph failed: GemmaRMSNorm failed with error code no kernel "
        "image is available for execution on the device",
        frames=(_RUNNER, _CAPTURE),
        hints=CAPTURE_HINTS,
    ),
    Scenario(
        "kernel_shared_memory",
        "a Triton kernel wants more shared memory than the GPU has",
        "gpu_arch_unsupported",
        "capture",
        RAISE,
        error="triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: "
        "106496, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.",
        frames=(_RUNNER,),
    ),
    Scenario(
        "jit_compile",
        "a kernel cannot be compiled: ptxas does not know the GPU",
        "env_toolchain",
        "capture",
        RAISE,
        error="triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error\n"
        "`ptxas` stderr:\nptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
        frames=(_RUNNER,),
    ),
    Scenario(
        "graph_capture_crash",
        "decode graphs cannot be captured (not memory)",
        "graph_capture",
        "capture",
        RAISE,
        error="Exception: Capture cuda graph failed: Triton Error [CUDA]: an illegal memory access "
        "was encountered",
        frames=(_RUNNER, _CAPTURE),
        hints=CAPTURE_HINTS,
        cured_by=NO_DECODE_GRAPH,
    ),
    Scenario(
        "prefill_graph_crash",
        "prefill graphs cannot be captured",
        "graph_capture",
        "prefill_capture",
        RAISE,
        error="AssertionError: PCG capture stream is not set",
        frames=(
            ("model_executor/piecewise_cuda_graph_runner.py", "self.capture()"),
            (
                "compilation/cuda_piecewise_backend.py",
                'assert stream is not None, "PCG capture stream is not set"',
            ),
        ),
        before=(
            (
                "Piecewise CUDA Graph failed with error: PCG capture stream is not set\n"
                "To work around this error, add --{no_prefill_flag} to your launch command."
            ),
        ),
        cured_by=NO_PREFILL_GRAPH,
    ),
    Scenario(
        "rank_echo",
        "rank 1 fails first, rank 0 only repeats that its peer is gone",
        "graph_capture",
        "capture",
        RAISE,
        error="Exception: Capture cuda graph failed: CUDA error: operation not permitted when "
        "stream is capturing",
        frames=(_RUNNER, _CAPTURE),
        hints=CAPTURE_HINTS,
        rank=1,
        needs=("tp-size>1",),
        cured_by=NO_DECODE_GRAPH,
    ),
    Scenario(
        "unattributed_crash",
        "a crash in capture whose words name no flag at all",
        "graph_capture",
        "capture",
        RAISE,
        error="RuntimeError: CUDA error: an internal operation failed",
        frames=(_RUNNER,),
    ),
    Scenario(
        "spec_config",
        "the draft model cannot be set up",
        "spec_config",
        "draft",
        RAISE,
        error="KeyError: 'model.embed_tokens.weight'",
        frames=(
            ("managers/scheduler.py", "self.draft_worker = EAGLEWorker("),
            ("speculative/eagle_worker.py", "self.init_lm_head()"),
        ),
        needs=("speculative-algorithm",),
    ),
    Scenario(
        "gpu_unavailable",
        "another process holds part of a GPU",
        "gpu_unavailable",
        "dist",
        RAISE,
        error="ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other "
        "processes. min_per_gpu_memory=8.8841552734375, local_gpu_memory=11.901611328125, "
        "local_gpu_memory * 0.9=10.7114501953125",
        frames=(("model_executor/model_runner.py", "raise ValueError("),),
    ),
    Scenario(
        "gpu_ecc",
        "a GPU has an uncorrectable memory error",
        "gpu_unavailable",
        "load",
        RAISE,
        error="RuntimeError: CUDA error: uncorrectable ECC error encountered",
        frames=(("model_executor/model_runner.py", "self.load_model()"),),
    ),
)
