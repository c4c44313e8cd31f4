"""Rules for the host: GPUs that are taken or broken, ports, files, shared memory."""
# ruff: noqa: S108 - /dev/shm is what the messages are about

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage
from relight.engines.sglang.names import SPECULATIVE
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import OTHER_PORT, tell


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
            r"(?:error|fail|unable|while creating|could not).*(?:/dev/shm|shared memory segment|"
            r"shm_open)|"
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
)
