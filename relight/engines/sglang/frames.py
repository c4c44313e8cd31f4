"""What a traceback's frames are about: the place that failed, whatever the message says."""

from __future__ import annotations

import re
from functools import lru_cache

from relight.core.startup import Stage

_WORDS: dict[str, tuple[Stage | None, str]] = {
    "server_args.py": (None, "args"),
    "arg_groups/": (None, "args"),
    "prepare_server_args": (None, "args"),
    "from_cli_args": (None, "args"),
    "check_server_args": (None, "args"),
    "model_config.py": (None, "config"),
    "CONFIG_MAPPING": (None, "config"),
    "configuration_auto.py": (None, "config"),
    "init_torch_distributed": (Stage.DIST, ""),
    "init_process_group": (Stage.DIST, ""),
    "initialize_model_parallel": (Stage.DIST, ""),
    "create_weights": (Stage.LOAD, ""),
    "self.load_model(": (Stage.LOAD, ""),
    "loader.load_model": (Stage.LOAD, ""),
    "load_weights": (Stage.LOAD, ""),
    "model_loader/": (Stage.LOAD, ""),
    "process_weights_after_loading": (Stage.LOAD, ""),
    "init_memory_pool": (Stage.KVPOOL, ""),
    "memory_pool": (Stage.KVPOOL, ""),
    "kv_cache_configurator": (Stage.KVPOOL, ""),
    "pool_configurator": (Stage.KVPOOL, ""),
    "profile_max_num_token": (Stage.KVPOOL, ""),
    "_create_buffers": (Stage.KVPOOL, ""),
    "init_device_graphs": (Stage.CAPTURE, ""),
    "init_cuda_graphs": (Stage.CAPTURE, ""),
    "cuda_graph_runner": (Stage.CAPTURE, ""),
    "capture_one_batch_size": (Stage.CAPTURE, ""),
    "kernel_warmup": (Stage.CAPTURE, ""),
    "flashinfer_autotune": (Stage.CAPTURE, ""),
    "piecewise_cuda_graph": (Stage.CAPTURE, "prefill"),
    "piecewise_context": (Stage.CAPTURE, "prefill"),
    "prefill_cuda_graph": (Stage.CAPTURE, "prefill"),
    "draft_worker": (None, "draft"),
    "eagle_worker": (None, "draft"),
    "eagle_draft": (None, "draft"),
    "event_loop_": (Stage.SERVING, ""),
    "custom_all_reduce": (None, "allreduce"),
    "constrained/": (None, "grammar"),
    "grammar_backend": (None, "grammar"),
}
_LONG = 1000
_ANY = re.compile("|".join(re.escape(word) for word in _WORDS))


def place_of(text: str, *, within: bool) -> tuple[Stage | None, str] | None:
    """Return the stage and the tag that a frame's line tells, or None; the last word counts.

    `within` says that a traceback is being printed, so that a bare line may be its source code.
    """
    if not within and not text.startswith((" ", "File ", "\t")) and 'File "' not in text:
        return None
    return _last_word(text)


@lru_cache(maxsize=1024)
def _last_word(text: str) -> tuple[Stage | None, str] | None:
    words: list[str] = _ANY.findall(text[:_LONG])
    return _WORDS[words[-1]] if words else None
