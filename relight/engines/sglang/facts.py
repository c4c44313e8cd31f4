"""What SGLang says of itself while it starts: memory, tokens, limits, kernels, as named facts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from relight.engines.sglang.batches import value_of

Value = str | int | float | bool


class Saying(NamedTuple):
    """Messages that hold `text`, and a pattern whose named groups are facts.

    The first value of a name stays, so that the draft model's line does not hide the model's,
    unless `last` says that the last one counts. `fixed` adds facts that stand in no group.
    """

    text: str
    pattern: re.Pattern[str]
    last: bool = False
    fixed: tuple[tuple[str, Value], ...] = ()


def _s(text: str, pattern: str, *fixed: tuple[str, Value], last: bool = False) -> Saying:
    return Saying(text, re.compile(pattern), last, fixed)


# Lines of 0.5.10 to 0.5.23; a field that a version lacks simply yields no fact.
SAYINGS: tuple[Saying, ...] = (
    _s("#tokens: ", r"#tokens: (?P<kv_tokens>\d+)"),
    _s("#tokens: ", r"dtype: (?:torch\.)?(?P<kv_dtype>\w+)"),
    _s("#tokens: ", r"K size: (?P<kv_k_gb>-?[\d.]+)"),
    _s("#tokens: ", r"V size: (?P<kv_v_gb>-?[\d.]+)"),
    _s("Using KV cache dtype", r"dtype: (?:torch\.)?(?P<kv_dtype>\w+)"),
    _s("using nccl==", r"nccl==(?P<nccl>[\d.]+)"),
    _s("Load weight end", r"type=(?P<model_class>\w+)"),
    _s("Load weight end", r"quant=(?P<quantization>[\w-]+)"),
    _s("Load weight end", r"elapsed=(?P<load_s>[\d.]+) s"),
    _s("Load weight end", r"mem usage=(?P<weights_gb>-?[\d.]+) GB"),
    _s("Memory pool end", r"avail mem=(?P<after_pools_gb>-?[\d.]+) GB"),
    _s("Mamba Cache is allocated", r"max_mamba_cache_size: (?P<mamba_slots>\d+)"),
    _s("init torch distributed ends", r"elapsed=(?P<dist_s>[\d.]+) s"),
    _s("init parallel ends", r"elapsed=(?P<dist_s>[\d.]+) s"),
    _s("max_total_num_tokens=", r"max_total_num_tokens=(?P<max_total_num_tokens>\d+)"),
    _s("max_total_num_tokens=", r"chunked_prefill_size=(?P<chunked_prefill_size>-?\d+|None)"),
    _s("max_total_num_tokens=", r"max_prefill_tokens=(?P<max_prefill_tokens>\d+)"),
    _s("max_total_num_tokens=", r"max_running_requests=(?P<max_running_requests>\d+)"),
    _s("max_total_num_tokens=", r"context_len=(?P<context_len>\d+)"),
    _s("max_total_num_tokens=", r"available_[cg]pu_mem=(?P<memory_left_gb>-?[\d.]+) GB", last=True),
    _s("attention backend", r"Use (?P<attention_backend>[\w-]+) (?:attention )?backend"),
    _s("attention backend", r"Using (?P<attention_backend>hybrid [\w ]+) backend"),
    _s("torch_native backend", r"fallback to (?P<attention_backend>torch_native) backend"),
    _s(
        "is disabled because",
        r"(?P<custom_all_reduce_off>p?\w*[Aa]ll[Rr]educe is disabled because.*)",
    ),
    _s("custom allreduce is disabled", r"(?P<custom_all_reduce_off>.+)"),
    _s("disable piecewise cuda graph because", r"because (?P<prefill_graph_off>.+)"),
    _s("disable prefill cuda graph because", r"because (?P<prefill_graph_off>.+)"),
    _s("cuda graph is incompatible with", r"(?P<prefill_graph_off>.+)"),
    _s("is capped to", r"max_running_requests is capped to (?P<max_running_requests_cap>\d+)"),
    _s("spec v2 is enabled", r"(?P<_>.)", ("spec_v2", True)),
    _s("disabling overlap schedule", r"(?P<overlap_off>.+)"),
    _s("overlap schedule is disabled", r"(?P<overlap_off>.+)"),
    _s("incompatible with overlap schedule", r"(?P<overlap_off>.+)"),
    _s("radix cache is disabled", r"(?P<radix_cache_off>.+)"),
    _s("engine startup timings", r"load_weight=(?P<load_s>[\d.]+)"),
    _s("cuda graph end", r"(?:Time elapsed: |elapsed=)(?P<capture_s>[\d.]+) s"),
    _s("cuda graph end", r"mem usage=(?P<graph_gb>-?[\d.]+) GB"),
)

_TEXTS: tuple[tuple[str, tuple[Saying, ...]], ...] = tuple(
    (text, tuple(saying for saying in SAYINGS if saying.text.lower() == text))
    for text in dict.fromkeys(saying.text.lower() for saying in SAYINGS)
)
_LONGEST = 500
_LONG = 2000


def facts_of(message: str) -> tuple[tuple[str, Value, bool], ...]:
    """Return the facts of one message: name, value, whether the last one counts."""
    return _remembered(message) if len(message) < _LONG else _facts_of(message[:_LONG])


def _facts_of(message: str) -> tuple[tuple[str, Value, bool], ...]:
    low = message.lower()
    found: list[tuple[str, Value, bool]] = []
    for text, sayings in _TEXTS:
        if text not in low:
            continue
        for saying in sayings:
            match = saying.pattern.search(message)
            if match is None:
                continue
            found += [
                (name, value_of(value[:_LONGEST]), saying.last)
                for name, value in match.groupdict().items()
                if value is not None and name != "_"
            ]
            found += [(name, value, saying.last) for name, value in saying.fixed]
    return tuple(found)


_remembered = lru_cache(maxsize=1024)(_facts_of)
