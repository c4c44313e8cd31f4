"""Rules for several GPUs and processes: groups, peer access, occupied devices, host limits."""

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage
from relight.engines.sglang.names import SPECULATIVE
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import NO_CUSTOM_ALL_REDUCE, OTHER_PORT, tell

_ECHO = tell("Another rank or node failed first: read its log for the cause.")


def _unbalanced(_: re.Match[str], scene: Scene) -> Remedy:
    words = (
        "Wait until the GPUs are free, or stop what holds them; cards of different size need "
        "SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK=0."
    )
    if scene.stage in {Stage.CAPTURE, Stage.KVPOOL} or "draft" in scene.tags:
        return Remedy(
            drop=SPECULATIVE,
            words=f"The draft model found less memory than it expects: start without it. {words}",
            auto="bounded",
        )
    if "min_per_gpu_memory" in _.string:
        return Remedy(
            drop=SPECULATIVE,
            words=f"{words} With a draft model the check misfires: start without it.",
            auto="bounded",
        )
    return Remedy(words=words, auto="bounded")


RULES: tuple[Rule, ...] = (
    Rule(
        "p2p.access",
        FailureClass.P2P_ALLREDUCE,
        (
            "peer access is not supported",
            "peer access",
            "cudaerrorpeeraccess",
            "cudaipcopenmemhandle",
            "cudaipcgetmemhandle",
            "open_mem_handle",
            "custom_all_reduce.cuh",
            "custom_all_reduce.cu",
            "mapping of buffer object failed",
            "p2p is disabled between",
            "nvls",
            "multicast",
        ),
        "these GPUs cannot reach each other's memory",
        NO_CUSTOM_ALL_REDUCE,
        regex(
            r"peer access (?:is not|from|has not|not|cannot|unsupported)|PeerAccess|"
            r"cudaIpc(?:Open|Get)MemHandle|open_mem_handle|custom_all_reduce\.cuh?:\d+|"
            r"mapping of buffer object|(?:Error|Exception|WARN).*(?:nvls|multicast)"
        ),
        regex(r"is disabled because|lacks GPU P2P"),
        flag="disable-custom-all-reduce",
    ),
    Rule(
        "p2p.frame",
        FailureClass.P2P_ALLREDUCE,
        (
            "custom_all_reduce.py",
            "register_graph_buffers",
            "custom_all_reduce_ops",
            "quick_all_reduce",
            "pcie_ipc_ar",
        ),
        "the custom all-reduce failed",
        NO_CUSTOM_ALL_REDUCE,
        regex(r'File ".*(?:custom_all_reduce|quick_all_reduce|pcie_ipc_ar)|register_graph_buffers'),
        tier=Tier.CONTEXT,
        flag="disable-custom-all-reduce",
    ),
    Rule(
        "gpu.unbalanced",
        FailureClass.GPU_UNAVAILABLE,
        ("memory capacity is unbalanced",),
        "a GPU has less free memory than the others",
        _unbalanced,
    ),
    Rule(
        "gpu.none",
        FailureClass.GPU_UNAVAILABLE,
        (
            "no accelerator (",
            "no accelerator is available",
            "no cuda gpus are available",
            "no gpus are available",
            "cuda-capable device is detected",
            "invalid device ordinal",
            "busy or unavailable",
            "device is busy",
            "all cuda-capable devices are busy",
            "cudaerrordevicesunavailable",
            "cuda is not available",
            "no supported gpu",
            "no gpu found",
            "gpus available",
            "gpu is lost",
            "has fallen off the bus",
            "unable to determine the device handle",
            "unavailable or busy",
        ),
        "a GPU that is asked for is not there, or taken",
        tell("Check nvidia-smi, CUDA_VISIBLE_DEVICES and who holds the GPUs."),
        regex(
            r"No accelerator|No (?:CUDA )?GPUs? (?:are|is|found)|No supported GPU|"
            r"no CUDA-capable device|invalid device ordinal|busy or unavailable|device is busy|"
            r"DevicesUnavailable|CUDA is not available|only \d+ GPUs available|GPU is lost|"
            r"fallen off the bus|determine the device handle"
        ),
        regex(r"backend|warn"),
    ),
    Rule(
        "gpu.fault",
        FailureClass.GPU_UNAVAILABLE,
        (
            "uncorrectable ecc",
            "ecc error",
            "eccuncorrectable",
            "nvrm: xid",
            " xid ",
            "xid (",
            "uncorrectable nvlink",
            "hardware error",
            "row remap",
            "cudaerroreccuncorrectable",
        ),
        "a GPU reports a hardware fault",
        tell("Take the GPU out of use: drain it, then reset or replace it."),
    ),
    Rule(
        "gpu.orphans",
        FailureClass.GPU_UNAVAILABLE,
        ("orphan", "already in use by another process", "other processes", "zombie"),
        "another process, perhaps a leftover, holds the GPU",
        tell("Find who holds the GPU; kill leftovers only where they are provably ours."),
        regex(
            r"orphan\w* .*(?:sglang|process|scheduler)|in use by another process|"
            r"zombie .*(?:sglang|gpu)"
        ),
    ),
    Rule(
        "port.bind",
        FailureClass.PORT_IN_USE,
        (
            "address already in use",
            "errno 98",
            "port is already in use",
            "is already in use",
            "error while attempting to bind",
            "is not available in 30 seconds",
            "eaddrinuse",
            "port is not available",
            "failed to bind",
            "only one usage of each socket address",
        ),
        "the port is taken",
        OTHER_PORT,
        regex(
            r"address (?:already )?in use|Errno 98|port\b.*(?:already )?in use|attempting to bind|"
            r"\w* at \d+ is not available in \d+ seconds|EADDRINUSE|port\b.*is not available|"
            r"failed to bind"
        ),
        regex(r"^\S*\s*\[W|retrying|trying (?:another|next)"),
        flag="port",
        lasting=True,
    ),
    Rule(
        "host.open_files",
        FailureClass.HOST_RESOURCES,
        ("too many open files", "errno 24", "emfile"),
        "the limit of open files is too low",
        tell("Raise the limit of open files before the launch: ulimit -n 65535 (LimitNOFILE)."),
    ),
    Rule(
        "host.shm",
        FailureClass.HOST_RESOURCES,
        ("/dev/shm", "shared memory", "bus error", "no space left on device", "shm_open", "shmem"),
        "/dev/shm is too small",
        tell(
            "Give the container more shared memory: --shm-size 32g or --ipc=host; clear old files "
            "in /dev/shm."
        ),
        regex(
            r"/dev/shm/\S+.*(?:error|fail|unable|size|space|No such|left)|"
            r"(?:error|fail|unable|while creating|could not).*(?:/dev/shm|shared memory segment|shm_open)|"
            r"Bus error|insufficient shared memory|No space left on device.*(?:shm|nccl)|"
            r"(?:shm|nccl).*No space left on device"
        ),
        regex(r"out of resource|CUDA"),
    ),
    Rule(
        "host.limits",
        FailureClass.HOST_RESOURCES,
        (
            "can't start new thread",
            "resource temporarily unavailable",
            "errno 11",
            "libgomp: thread creation failed",
            "pthread_create failed",
            "openblas blas_thread_init",
            "ibv_reg_mr",
            "memlock",
            "no space left on device",
            "read-only file system",
        ),
        "a limit of the host was hit",
        tell("Raise the host's limits: processes (ulimit -u), locked memory (ulimit -l), disk."),
        regex(
            r"start new thread|Resource temporarily unavailable|hread creation failed|"
            r"pthread_create failed|blas_thread_init|(?:fail|error|cannot).*(?:ibv_reg_mr|memlock)|"
            r"ibv_reg_mr.*fail|No space left on device|Read-only file system"
        ),
        tier=Tier.CONTEXT,
    ),
    Rule(
        "dist.nccl",
        FailureClass.DIST_INIT,
        (
            "nccl error",
            "ncclsystemerror",
            "ncclinternalerror",
            "ncclunhandledcudaerror",
            "ncclinvalidusage",
            "distbackenderror",
            "nccl failure",
            "ncclremoteerror",
            "nccl version mismatch",
            "no socket interface found",
            "bootstrap : no socket",
            "call to connect returned",
            "net/ib",
            "net/socket",
            "nccl warn",
            "rccl error",
            "hccl error",
            "could not find nccl",
        ),
        "NCCL could not connect the GPUs",
        tell(
            "Name the network interface (NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME), open the "
            "firewall, and read NCCL_DEBUG=INFO."
        ),
        regex(
            r"[NR]CCL error|hccl error|nccl\w+Error|DistBackendError|NCCL failure|ncclInvalidUsage|"
            r"version mismatch|No socket interface|Call to connect returned|NCCL WARN (?!.*libnccl-net)|"
            r"Duplicate GPU detected"
        ),
        regex(
            r"remote process exited|network error|illegal memory|out of memory|watchdog|libnccl-net|"
            r"Connection closed|aborted|NET/Plugin|No plugin"
        ),
        tier=Tier.CONTEXT,
    ),
    Rule(
        "dist.timeout",
        FailureClass.DIST_INIT,
        (
            "distnetworkerror",
            "diststoreerror",
            "socket has timed out",
            "timed out after",
            "client socket",
            "failed to connect to remote",
            "connectfullmesh failed",
            "unable to find address for",
            "unable to resolve hostname",
            "wait timeout after",
            "rendezvous",
            "init_process_group",
            "failed to recv, got 0 bytes",
            "nodename nor servname",
            "gloo connectfullmesh",
            "ifname",
            "connection timed out",
            "connection refused",
            "no route to host",
        ),
        "the ranks did not find each other",
        tell(
            "Check dist-init-addr, the network interface (GLOO_SOCKET_IFNAME) and the firewall; "
            "every node must be started."
        ),
        regex(
            r"Dist(?:Network|Store)Error|socket .*timed out|client socket .*(?:timed out|failed)|"
            r"timed out after \d+.*(?:clients|joined|rank|store|socket)|"
            r"failed to connect to remote|onnectFullMesh|Unable to find address|"
            r"resolve hostname|Wait timeout after|[Rr]endezvous.*(?:fail|time|clos|error)|"
            r"got 0 bytes|ifname.*(?:not found|invalid|fail)|"
            r"(?:c10d|gloo|tcp://|TCPStore).*(?:timed out|refused|No route)"
        ),
        regex(r"model_info|NCCL INFO|Timed out waiting \d+ms|huggingface|watchdog|http"),
        tier=Tier.GENERIC,
    ),
    Rule(
        "host.killed",
        FailureClass.HOST_RESOURCES,
        ("exit code: -9", "exit code -9", "exitcode: -9", "exitcode -9", "signal 9", "sigkill"),
        "a rank was killed while it started, most likely for the host's memory",
        tell(
            "See dmesg for the OOM killer; free host memory, raise the container's limit, or load "
            "fewer ranks at a time."
        ),
        regex(
            r"(?:died|scheduler is dead|dead|crashed|initialization|killed).*(?:exit ?code:? -9|signal 9|SIGKILL)|\] Exit code: -9|^Exit code: -9"
        ),
        tier=Tier.ECHO,
        serving=False,
    ),
    Rule(
        "dist.echo",
        FailureClass.DIST_INIT,
        (
            "connection closed by peer",
            "connection reset by peer",
            "connection cl",
            "timed out waiting",
            "other ranks that didn't finish",
            "monitoredbarrier",
            "monitored barrier",
            "check rank 0 logs",
            "remote process exited",
            "gloo/transport",
            "read timeout",
            "broken pipe",
            "tcpstore",
            "socket closed",
            "connection was likely closed",
        ),
        "another rank failed or went away first",
        _ECHO,
        regex(
            r"(?:gloo|pair\.cc|unbound_buffer|transport/tcp).*(?:Connection|Timed out|timeout|Broken|closed)|"
            r"other ranks that didn't finish|[Mm]onitored ?[Bb]arrier|remote process exited|"
            r"TCPStore.*(?:Broken pipe|failed|closed|Connection)|likely closed|check rank 0 logs"
        ),
        tier=Tier.ECHO,
    ),
)
