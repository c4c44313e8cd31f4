"""How the simulated SGLang versions differ on the outside; facts from recordings of each."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_VERSION = "0.5.10"


@dataclass(frozen=True)
class Profile:
    """One SGLang version's wording, endpoints and ways to end."""

    version: str
    marks_dist_begin: bool  # "Init torch distributed begin." (0.5.10), "Init parallel begin." after
    args_as_dict: bool  # server_args={...} instead of server_args=ServerArgs(...)
    kv_has_dtype: bool
    pending_token: bool  # "#pending-token" in prefill lines
    new_capture_words: bool  # "Capture target decode CUDA graph begin." and after
    startup_timings: bool
    freeze_gc: bool  # POST /freeze_gc before the ready line
    has_ready: bool  # GET /ready
    has_get_load: bool
    term_exit: int  # 0, or -9: it kills its own tree with SIGKILL
    leaks_refused: bool  # a request refused for its length is never forgotten: the drain hangs
    stale_running_gauge: bool  # num_running_reqs stays up after a client left
    crash_wait: float  # seconds of "crash diagnostics" before it ends
    coredump_wait: float  # seconds it waits for coredumps while a scheduler is still there
    language_only_needs_urls: bool
    strategy_flag: str  # the mamba strategy's flag
    no_buffer_by_default: bool
    null_keys: bool  # tool_calls, role and usage as null in streamed chunks
    weight_versions: bool


_OLD = Profile(
    version="0.5.10",
    marks_dist_begin=True,
    args_as_dict=False,
    kv_has_dtype=False,
    pending_token=False,
    new_capture_words=False,
    startup_timings=False,
    freeze_gc=False,
    has_ready=False,
    has_get_load=True,
    term_exit=-9,
    leaks_refused=True,
    stale_running_gauge=True,
    crash_wait=0.0,
    coredump_wait=0.0,
    language_only_needs_urls=True,
    strategy_flag="mamba-scheduler-strategy",
    no_buffer_by_default=True,
    null_keys=True,
    weight_versions=False,
)
_NEW = Profile(
    version="0.5.23",
    marks_dist_begin=False,
    args_as_dict=True,
    kv_has_dtype=True,
    pending_token=True,
    new_capture_words=True,
    startup_timings=True,
    freeze_gc=True,
    has_ready=True,
    has_get_load=False,
    term_exit=0,
    leaks_refused=False,
    stale_running_gauge=False,
    crash_wait=5.0,
    coredump_wait=60.0,
    language_only_needs_urls=False,
    strategy_flag="mamba-radix-cache-strategy",
    no_buffer_by_default=False,
    null_keys=False,
    weight_versions=True,
)

PROFILES = {profile.version: profile for profile in (_OLD, _NEW)}
