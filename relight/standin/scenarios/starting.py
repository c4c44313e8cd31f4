"""Scenarios of a start that hangs, dawdles or fails between the ranks and on the host."""

from __future__ import annotations

from relight.standin.scenarios.kinds import HANG, KILLED, RAISE, REFUSE, SERVE, SLOW, Scenario

_WORKER = ("managers/tp_worker.py", "self._model_runner = ModelRunner(")
_LOADER = ("model_executor/model_runner.py", "self.model = self.loader.load_model(")

STARTING = (
    Scenario(
        "dist_timeout",
        "the ranks never meet: silence after torch distributed began",
        "dist_init",
        "dist",
        HANG,
    ),
    Scenario(
        "dist_refused",
        "the ranks give up waiting for each other",
        "dist_init",
        "dist",
        RAISE,
        error="torch.distributed.DistNetworkError: The client socket has timed out after 600000ms "
        "while trying to connect to (10.0.0.1, 20000).",
        frames=(("distributed/parallel_state.py", "torch.distributed.init_process_group("),),
    ),
    Scenario(
        "nccl_error",
        "NCCL fails between the GPUs",
        "dist_init",
        "dist",
        RAISE,
        error="RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for "
        "details)",
        frames=(
            (
                "distributed/device_communicators/pynccl.py",
                "self.comm: ncclComm_t = self.nccl.ncclCommInitRank(",
            ),
        ),
    ),
    Scenario(
        "startup_stall",
        "no byte any more while weights load, nothing ends",
        "startup_stall",
        "load",
        HANG,
    ),
    Scenario(
        "capture_hang",
        "no byte any more while graphs are captured",
        "startup_stall",
        "capture",
        HANG,
        cured_by=("disable-cuda-graph", "disable-decode-cuda-graph"),
    ),
    Scenario(
        "slow_start",
        "kernels are compiled first: ten times the start's time, then ready",
        "startup_stall",
        "capture",
        SLOW,
        before=(
            (
                "Entering DeepGEMM JIT Pre-Compile session. It may take a long time (typically "
                "10-20 mins) if you do not have sufficient DeepGEMM cache."
            ),
        ),
    ),
    Scenario(
        "download_stall",
        "the model's files stop coming: silence before the weights",
        "model_access",
        "load",
        HANG,
        before=("Using model weights format ['*.safetensors']",),
    ),
    Scenario(
        "checkpoint_mismatch",
        "the weights do not divide by this tp size",
        "checkpoint_mismatch",
        "load",
        RAISE,
        error="ValueError: Weight output_partition_size = 576 is not divisible by weight "
        "quantization block_n = 128.",
        frames=(
            _LOADER,
            ("layers/quantization/fp8.py", "raise ValueError("),
        ),
    ),
    Scenario(
        "broken_weights",
        "a weight file is cut short",
        "checkpoint_mismatch",
        "load",
        RAISE,
        error="safetensors_rust.SafetensorError: Error while deserializing header: "
        "MetadataIncompleteBuffer",
        frames=(_LOADER, ("model_loader/weight_utils.py", "with safetensors.safe_open(st_file")),
    ),
    Scenario(
        "host_resources",
        "the host's memory is too small for the hierarchical cache",
        "host_resources",
        "pool",
        RAISE,
        error="ValueError: Not enough host memory available. Requesting 40.00 GB but only have "
        "44.87 GB free. Please reduce the size of the hierarchical cache.",
        frames=(("mem_cache/memory_pool_host.py", "raise ValueError("),),
        before=("Allocating 40.00 GB host memory for hierarchical KV cache.",),
    ),
    Scenario(
        "open_files",
        "too few file descriptors",
        "host_resources",
        "dist",
        RAISE,
        error="OSError: [Errno 24] Too many open files",
        frames=(_WORKER,),
    ),
    Scenario(
        "host_oom_kill",
        "the kernel's OOM killer takes a scheduler while weights load",
        "host_resources",
        "load",
        KILLED,
    ),
    Scenario(
        "internal_port",
        "an internal port of the engine stays taken: rc 1",
        "port_in_use",
        "spawn",
        REFUSE,
        error="RuntimeError: nccl_port at 28000 is not available in 30 seconds. Port 28000 is "
        "already in use.",
        frames=(("utils/network.py", "raise RuntimeError("),),
    ),
    Scenario(
        "port_in_use",
        "the port is held by something silent: Errno 98 after the load, then it never exits",
        "port_in_use",
        "http",
        SERVE,
    ),
    Scenario(
        "ready_line_lies",
        "the port is held by another server: Errno 98, the ready line all the same, then rc 3",
        "port_in_use",
        "http",
        SERVE,
        rc=3,
    ),
    Scenario(
        "warmup_failed",
        "the request to itself is answered by a proxy: kills its own tree",
        "warmup_failed",
        "warmup",
        SERVE,
        error="AssertionError: res=<Response [403]>, res.text='Forbidden by proxy'",
    ),
    Scenario(
        "orphan_detokenizer",
        "the main process dies while its children import: the detokenizer stays, parent 1",
        "gpu_unavailable",
        "spawn",
        SERVE,
    ),
)
