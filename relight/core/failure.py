"""What a failed start or a broken server is called, and what may be done about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from relight.core.flags import FlagValue
from relight.core.model import Frozen


class FailureClass(StrEnum):
    """The kinds of failure that SGLang's users report, one name each."""

    CLI_ARGS = "cli_args"
    FLAG_CONFLICT = "flag_conflict"
    SPEC_CONFIG = "spec_config"
    MODEL_ACCESS = "model_access"
    MODEL_UNSUPPORTED = "model_unsupported"
    CHECKPOINT_MISMATCH = "checkpoint_mismatch"
    ENV_TOOLCHAIN = "env_toolchain"
    GPU_ARCH_UNSUPPORTED = "gpu_arch_unsupported"
    BACKEND_UNSUPPORTED = "backend_unsupported"
    OOM_WEIGHTS = "oom_weights"
    OOM_POOL = "oom_pool"
    OOM_GRAPH_CAPTURE = "oom_graph_capture"
    OOM_RUNTIME = "oom_runtime"
    GRAPH_CAPTURE = "graph_capture"
    DIST_INIT = "dist_init"
    P2P_ALLREDUCE = "p2p_allreduce"
    STARTUP_STALL = "startup_stall"
    HOST_RESOURCES = "host_resources"
    PORT_IN_USE = "port_in_use"
    GPU_UNAVAILABLE = "gpu_unavailable"
    WARMUP_FAILED = "warmup_failed"
    RUNTIME_CRASH = "runtime_crash"
    RUNTIME_HANG = "runtime_hang"
    WRONG_OUTPUT = "wrong_output"
    BELOW_GOAL = "below_goal"
    UNKNOWN = "unknown"
    """The process ended or never became ready, and no line says why."""


class Evidence(Frozen):
    """The line of the log that decided: its number, counted from 1, and its text."""

    line: int
    text: str


class Remedy(Frozen):
    """What would help, as data: flags to drop, set or move, variables, or words for a person.

    `rename` respells flags and keeps their values (old name -> new one). `auto` says whether a
    tool may do it alone: `safe`, `bounded` (within a budget), `never`.
    """

    drop: tuple[str, ...] = ()
    set: dict[str, FlagValue] = {}
    rename: dict[str, str] = {}
    raise_: tuple[str, ...] = Field(default=(), serialization_alias="raise")
    lower: tuple[str, ...] = ()
    env: dict[str, str] = {}
    words: str = ""
    auto: Literal["safe", "bounded", "never"] = "never"


class Diagnosis(Frozen):
    """Why a launch failed: the class, the flag concerned where one is, the proof, the remedy."""

    failure: FailureClass
    flag: str | None = None
    evidence: Evidence | None = None
    remedy: Remedy = Remedy()
    summary: str = ""
