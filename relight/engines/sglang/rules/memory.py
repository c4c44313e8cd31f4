"""Rules for memory: the stage decides which kind it is, and which way the fraction goes."""

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import (
    FEWER_REQUESTS,
    LESS_HICACHE,
    MEMORY,
    MORE_FOR_POOLS,
    WEIGHTS_TOO_BIG,
    capture_needs_room,
    drop_speculation,
    tell,
)

# torch, CUDA, HIP and cuBLAS say it in their own words; a number of bytes is not always given.
_OUT = (
    "out of memory",
    "outofmemoryerror",
    "cudaerrormemoryallocation",
    "cuda_error_out_of_memory",
    "hiperroroutofmemory",
    "cublas_status_alloc_failed",
    "cudnn_status_alloc_failed",
)
_NOT_GPU = regex(
    r"try to lower your batch size|runs out of memory|host memory|DefaultCPUAllocator|oom-kill|"
    r"oom killer|cannot allocate memory|nvcc|cicc|cc1plus|If you (?:see|encounter|run into|hit)|"
    r"to avoid (?:out of memory|oom)|may (?:cause|lead|run)|might|can cause|common cause|"
    r"e\.g\., OOM|PYTORCH_(?:CUDA_)?ALLOC"
)
_START = frozenset({Stage.IMPORT, Stage.RESOLVE, Stage.SPAWN, Stage.DIST, Stage.LOAD})


def _weights(match: re.Match[str], scene: Scene) -> Remedy:
    speculative = scene.arguments.get("speculative_algorithm")
    text = match.string.lower()
    if speculative or "draft" in scene.tags or "mtp" in text or "_moe" in text:
        return drop_speculation(
            "The weights do not fit: without the draft model they may; else more GPUs or a "
            "quantised checkpoint. mem-fraction-static cannot help here."
        )
    return WEIGHTS_TOO_BIG


_MAMBA = Remedy(
    lower=("max-running-requests", "speculative-num-draft-tokens"),
    raise_=(MEMORY,),
    words="The state cache holds too few requests: run fewer at a time, then drop speculation, "
    "then give the pools more memory.",
    auto="bounded",
)

RULES: tuple[Rule, ...] = (
    Rule(
        "pool.mamba",
        FailureClass.OOM_POOL,
        (
            "state cache is too small",
            "state cache. computed",
            "mamba/linear-attention) state cache",
            "not enough gpu memory for hybrid",
            "max_mamba_cache_size=0",
            "mamba cache is too small",
            "memory for mamba",
        ),
        "the hybrid model's state cache got too little memory",
        _MAMBA,
        flag="max-running-requests",
    ),
    Rule(
        "pool.none",
        FailureClass.OOM_POOL,
        (
            "please try to increase --mem-fraction-static",
            "increasing --mem-fraction-static",
            "increasing mem_fraction_static",
            "try to increase --mem-fraction-static",
            "try to increase mem_fraction_static",
            "leave no gpu memory for the kv cache",
            "leave no memory for the kv cache",
            "no available memory for the cache blocks",
            "leaves no room for the full kv pool",
            "leaves no room for",
            "cannot hold even one request",
            "max_total_num_tokens is",
            "max_total_num_tokens <= 0",
            "negative max_total_num_tokens",
            "max_total_num_tokens=-",
            "max_total_tokens should be",
            "kv cache size is",
            "estimated maximum model length",
            "not enough memory for kv",
            "not enough gpu memory for kv",
            "not enough memory to allocate kv",
            "pool is too small",
            "is larger than the maximum number of tokens that can be stored in kv cache",
            "[#tokens: 0",
            "trying to create tensor with negative dimension",
            "swa pool",
        ),
        "the KV pool got no memory",
        MORE_FOR_POOLS,
        regex(
            r"increas(?:e|ing) --?mem.fraction|no (?:gpu )?memory for the KV|No available memory "
            r"for the cache|"
            r"leaves? no room|cannot hold even one|max_total_num_tokens (?:is (?:too small|less|"
            r"neg)|<=)|"
            r"negative max_total|max_total_num_tokens=-\d|maximum model length|"
            r"not enough (?:gpu )?memory (?:for|to allocate) kv|pool is too small|stored in KV "
            r"cache|"
            r"negative dimension|(?:Error|Exception).*SWA pool"
        ),
        regex(r"Mamba Cache|mem usage"),
        flag=MEMORY,
    ),
    Rule(
        "pool.words",
        FailureClass.OOM_POOL,
        ("not enough memory",),
        "the KV pool got no memory",
        MORE_FOR_POOLS,
        regex(r"(?<!host )\bNot enough memory(?! (?:on the )?host)"),
        regex(r"host|disk"),
        serving=False,
        flag=MEMORY,
    ),
    Rule(
        "runtime.workspace",
        FailureClass.OOM_RUNTIME,
        ("alignedallocator", "buffer overflow when allocating memory", "batch_prefill_tmp_v"),
        "FlashInfer's workspace is too small for the batch",
        Remedy(
            env={"SGLANG_FLASHINFER_WORKSPACE_SIZE": "1073741824"},
            lower=("max-running-requests", "chunked-prefill-size"),
            words="Give FlashInfer a larger workspace, or run fewer requests at a time.",
            auto="bounded",
        ),
        flag="max-running-requests",
    ),
    Rule(
        "runtime.accounting",
        FailureClass.OOM_RUNTIME,
        (
            "prefill out of memory",
            "decode out of memory",
            "runs out of memory",
            "try to lower your batch size",
            "set a smaller number for `--max-running-requests`",
            "failed to allocate memory for batch",
            "no enough space in kv cache",
            "out of slots",
        ),
        "the pools ran full while serving",
        FEWER_REQUESTS,
        flag="max-running-requests",
    ),
    Rule(
        "capture.oom",
        FailureClass.OOM_GRAPH_CAPTURE,
        _OUT,
        "no memory was left to capture CUDA graphs",
        capture_needs_room,
        unless=_NOT_GPU,
        stages=frozenset({Stage.CAPTURE}),
        flag=MEMORY,
    ),
    Rule(
        "runtime.oom",
        FailureClass.OOM_RUNTIME,
        _OUT,
        "the GPU's memory ran out while serving",
        FEWER_REQUESTS,
        unless=_NOT_GPU,
        stages=frozenset({Stage.SERVING, Stage.WARMUP, Stage.HTTP}),
        flag=MEMORY,
    ),
    Rule(
        "pool.oom",
        FailureClass.OOM_POOL,
        _OUT,
        "the pools did not fit into the GPU's memory",
        Remedy(
            lower=(MEMORY, "max-running-requests", "max-total-tokens"),
            words="The pools are larger than what is free: lower the fraction a little, and see "
            "that nothing else holds the GPU.",
            auto="bounded",
        ),
        unless=_NOT_GPU,
        stages=frozenset({Stage.KVPOOL}),
        flag=MEMORY,
    ),
    Rule(
        "weights.oom",
        FailureClass.OOM_WEIGHTS,
        _OUT,
        "the weights do not fit into the GPU's memory",
        _weights,
        unless=_NOT_GPU,
        stages=_START,
    ),
    Rule(
        "weights.frames",
        FailureClass.OOM_WEIGHTS,
        ("self.quant_method.create_weights(", "create_weights("),
        "the weights do not fit into the GPU's memory",
        _weights,
        tier=Tier.FRAME,
        serving=False,
    ),
    Rule(
        "host.hicache",
        FailureClass.HOST_RESOURCES,
        ("not enough host memory", "hierarchical cache", "hicache"),
        "the hierarchical cache wants more host memory than there is",
        LESS_HICACHE,
        regex(
            r"not enough host memory|reduce the size of the hierarchical|"
            r"(?:Error|Exception).*(?:hicache|hierarchical cache).*(?:memory|size|small|large)"
        ),
        flag="hicache-size",
    ),
    Rule(
        "host.hicache_frame",
        FailureClass.HOST_RESOURCES,
        ("memory_pool_host",),
        "the hierarchical cache could not get its host memory",
        LESS_HICACHE,
        regex(r'File ".*memory_pool_host'),
        tier=Tier.CONTEXT,
        serving=False,
        flag="hicache-size",
    ),
    Rule(
        "host.hicache_last",
        FailureClass.HOST_RESOURCES,
        ("host memory for hierarchical kv cache",),
        "the server died while the hierarchical cache took host memory",
        LESS_HICACHE,
        regex(r"Allocating [\d.]+ GB host memory"),
        last=True,
        flag="hicache-size",
    ),
    Rule(
        "host.memory",
        FailureClass.HOST_RESOURCES,
        (
            "cannot allocate memory",
            "defaultcpuallocator",
            "not enough memory: you tried to allocate",
            "std::bad_alloc",
            "memoryerror",
            "unable to allocate",
            "cudahostalloc",
            "cudahostregister",
            "pin_memory",
            "pinned memory",
            "oom-kill",
            "oom killer",
            "oom_kill",
            "out of memory: killed process",
            "killed process",
            "memory cgroup out of memory",
        ),
        "the host has too little memory",
        tell("Free host memory or raise the container's limit; dmesg tells who was killed."),
        regex(
            r"Cannot allocate memory|DefaultCPUAllocator|tried to allocate|bad_alloc|"
            r"\bMemoryError\b|unable to allocate|cudaHost(?:Alloc|Register).*(?:fail|error)|"
            r"(?:Error|Exception|fail).*pin(?:ned|_memory)|oom.?kill|Killed process|Memory cgroup"
        ),
        regex(r"common cause|Run `dmesg|torch\.OutOf|CUDA out of memory"),
    ),
)
