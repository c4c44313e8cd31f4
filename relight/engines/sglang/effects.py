"""Why SGLang does something else than it was asked for: rules, as data, with their sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Fact = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of a server beside its arguments: facts of its log, state, GPU's kind (8.6)."""

    facts: Mapping[str, Fact] = field(default_factory=dict)
    state: Mapping[str, object] = field(default_factory=dict)
    resolved: Mapping[str, object] = field(default_factory=dict)
    sm: float | None = None

    def number(self, name: str) -> float | None:
        """Return a number out of the state or the facts."""
        value = self.state.get(name, self.facts.get(name))
        return (
            float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """One rule: for one of `fields`, `tell` returns (effective value, why), or None."""

    rule: str
    fields: tuple[str, ...]
    tell: Callable[[object, Situation], tuple[object, str] | None]
    asked: bool = True
    """Whether it only counts where the flag was asked for; else it is a change of its own."""


def _running(value: object, here: Situation) -> tuple[object, str] | None:
    got = here.number("effective_max_running_requests_per_dp")
    got = here.number("max_running_requests") if got is None else got
    if got is None or not isinstance(value, int) or got >= value:
        return None
    slots = here.number("mamba_slots")
    why = (
        f"the hybrid model's state cache has {slots:g} slots, several per request"
        if slots is not None
        else "the pools hold fewer requests"
    )
    return int(got), why


def _tokens(value: object, here: Situation) -> tuple[object, str] | None:
    got = here.number("max_total_num_tokens")
    if got is None or not isinstance(value, int) or got >= value:
        return None
    return int(got), "the KV pool holds fewer tokens"


def _prefill_graph(_: object, here: Situation) -> tuple[object, str] | None:
    reason = here.facts.get("prefill_graph_off")
    if reason is None:
        return None
    if "is set" in str(reason) or "resolved prefill.backend" in str(reason):
        # The line names the flag even where SGLang set it by itself.
        return "disabled", (
            "SGLang switched it off by itself: multimodal architecture, speculation, dp attention, "
            "LoRA, torch.compile, pipeline parallelism, CPU offload or no CUDA"
        )
    return "disabled", str(reason)


def _all_reduce(_: object, here: Situation) -> tuple[object, str] | None:
    reason = here.facts.get("custom_all_reduce_off")
    return None if reason is None else ("disabled", str(reason))


def _overlap(_: object, here: Situation) -> tuple[object, str] | None:
    reason = here.facts.get("overlap_off")
    return None if reason is None else ("disabled", str(reason))


def _radix(_: object, here: Situation) -> tuple[object, str] | None:
    reason = here.facts.get("radix_cache_off")
    return None if reason is None else ("disabled", str(reason))


def _needs_sm90(value: object, here: Situation) -> tuple[object, str] | None:
    if value is not True or here.sm is None or here.sm >= 9:
        return None
    return False, f"it needs SM90 or later; this GPU is SM{here.sm * 10:.0f}"


_MOE = ("moe", "deepseek", "kimi", "gptoss", "gpt_oss", "mixtral", "dbrx", "longcat", "minimax")


def _moe_only(value: object, here: Situation) -> tuple[object, str] | None:
    model = str(here.facts.get("model_class", "")).lower()
    if value is not True or not model or any(word in model for word in _MOE):
        return None
    return None, "only MoE code reads it; on this dense model it does nothing"


def _nextn(value: object, _: Situation) -> tuple[object, str] | None:
    return ("EAGLE", "SGLang shows NEXTN as EAGLE") if value == "NEXTN" else None


def _draft_tokens(value: object, here: Situation) -> tuple[object, str] | None:
    if here.resolved.get("speculative_eagle_topk") != 1 or not isinstance(value, int):
        return None
    steps = here.resolved.get("speculative_num_steps")
    if not isinstance(steps, int) or value == steps + 1:
        return None
    return steps + 1, "with topk 1 it is always num_steps + 1"


def _dead(value: object, _: Situation) -> tuple[object, str] | None:
    return (None, "no code of SGLang reads it") if value not in {None, False} else None


EFFECTS: tuple[Effect, ...] = (
    # model_runner_kv_cache_mixin._resolve_max_num_reqs (0.5.12), kv_cache_configurator (0.5.23)
    Effect("running.cut", ("max_running_requests",), _running),
    Effect("tokens.cut", ("max_total_tokens",), _tokens),
    # _handle_piecewise_cuda_graph (0.5.10, 0.5.12: no log line), cuda_graph_hook (0.5.23)
    Effect(
        "prefill_graph.off",
        (
            "disable_piecewise_cuda_graph",
            "cuda_graph_backend_prefill",
            "enforce_piecewise_cuda_graph",
            "enable_piecewise_cuda_graph",
            "piecewise_cuda_graph_max_tokens",
            "cuda_graph_max_bs_prefill",
        ),
        _prefill_graph,
        asked=False,
    ),
    # custom_all_reduce_utils.can_use_custom_all_reduce_with_nvlink: the argument stays as it was
    Effect("all_reduce.off", ("disable_custom_all_reduce",), _all_reduce, asked=False),
    Effect("overlap.off", ("disable_overlap_schedule",), _overlap, asked=False),
    Effect("radix.off", ("disable_radix_cache",), _radix, asked=False),
    Effect(
        "sm90.needed",
        ("enable_nccl_nvls", "enable_flashinfer_allreduce_fusion", "enable_symm_mem"),
        _needs_sm90,
    ),
    # is_sbo_enabled is read by deepseek_v2, glm4_moe and the MoE dispatchers only
    Effect(
        "overlap.moe_only",
        ("enable_single_batch_overlap", "enable_two_batch_overlap"),
        _moe_only,
    ),
    Effect("spec.nextn", ("speculative_algorithm",), _nextn),
    Effect("spec.topk1", ("speculative_num_draft_tokens",), _draft_tokens),
    Effect("flag.dead", ("num_continuous_decode_steps", "triton_attention_reduce_in_fp32"), _dead),
)

# Why a value that nobody asked for is there: the field, and the function that sets it (0.5.12).
DEFAULTS: dict[str, tuple[str, str]] = {
    "attention_backend": ("default.backend", "chosen for the GPU and the model"),
    "sampling_backend": ("default.backend", "chosen for the GPU"),
    "grammar_backend": ("default.backend", "chosen by what is installed"),
    "chunked_prefill_size": ("default.memory", "chosen by the GPU's memory"),
    "cuda_graph_max_bs": ("default.memory", "chosen by the GPU's memory and tp-size"),
    "cuda_graph_max_bs_decode": ("default.memory", "chosen by the GPU's memory and tp-size"),
    "mem_fraction_static": ("default.memory", "chosen by the GPU's memory; less for vision models"),
    "max_running_requests": ("default.speculation", "48 with speculative decoding"),
    "disable_piecewise_cuda_graph": ("prefill_graph.off", "switched off by a rule of SGLang"),
    "disable_overlap_schedule": ("overlap.off", "the schedule cannot overlap with what was asked"),
    "disable_radix_cache": ("radix.off", "the radix cache cannot be used with what was asked"),
    "enable_mixed_chunk": ("mixed_chunk.off", "not together with speculative decoding"),
    "page_size": ("default.page", "set for the attention backend or the hybrid cache"),
    "ep_size": ("default.deepep", "DeepEP sets it to tp-size"),
    "schedule_conservativeness": ("default.dp", "lowered for dp attention"),
    "enable_flashinfer_allreduce_fusion": ("default.fusion", "on for SM90/SM100, one node, tp > 1"),
}

# Fields that differ on every host or launch and say nothing of how it serves.
NOISE = frozenset(
    {
        "model_path",
        "tokenizer_path",
        "served_model_name",
        "host",
        "port",
        "random_seed",
        "device",
        "launch_command",
        "nccl_port",
        "version",
        "startup_time",
        "cuda_graph_config",
        "model",
        "cuda_graph_bs",
        "cuda_graph_bs_decode",
        "cuda_graph_bs_prefill",
        "dist_timeout",
        "log_level",
        "piecewise_cuda_graph_tokens",
        "mamba_cache_chunk_size",
        "tool_call_parser",
        "reasoning_parser",
        "gc_threshold",
        "weight_version",
        "dtype",
    }
)
