"""A model's shape, read from its own config.json: what decides bytes, states and speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from relight.core.model import Frozen

_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "half": 2.0}
_QUANT_BYTES = {"fp8": 1.0, "compressed-tensors": 1.0, "awq": 0.5625, "gptq": 0.5625}
"""Bytes a weight by `quantization_config.quant_method`; 4-bit ones carry a scale per group."""


class Linear(Frozen):
    """Linear-attention layers (Gated DeltaNet and its kin): heads, dimensions, state's width."""

    layers: int = Field(ge=1)
    key_heads: int = Field(ge=1)
    value_heads: int = Field(ge=1)
    key_dim: int = Field(ge=1)
    value_dim: int = Field(ge=1)
    conv_kernel: int = Field(default=4, ge=1)
    state_bytes: float = 4.0


class Latent(Frozen):
    """Multi-head latent attention: what one token costs in the cache of a layer."""

    kv_rank: int = Field(ge=1)
    rope_dim: int = Field(ge=0)


class Experts(Frozen):
    """A mixture of experts: how many there are, how many a token takes, how wide one is."""

    count: int = Field(ge=1)
    active: int = Field(ge=1)
    inner: int = Field(ge=1)
    shared_inner: int = 0


class Shape(Frozen):
    """The numbers of a decoder. `weight_bytes` is bytes a weight of the layers' matrices."""

    architecture: str = ""
    hidden: int = Field(ge=1)
    layers: int = Field(ge=1)
    full_layers: int = Field(ge=0)
    heads: int = Field(ge=1)
    kv_heads: int = Field(ge=1)
    head_dim: int = Field(ge=1)
    gated: bool = False
    inner: int = Field(ge=0)
    vocab: int = Field(ge=1)
    tied: bool = False
    context: int = Field(default=0, ge=0)
    draft_layers: int = Field(default=0, ge=0)
    vision_params: int = Field(default=0, ge=0)
    multimodal: bool = False
    linear: Linear | None = None
    latent: Latent | None = None
    experts: Experts | None = None
    dtype_bytes: float = 2.0
    weight_bytes: float = 2.0
    quantization: str = ""


def read_shape(config: Mapping[str, Any]) -> Shape:
    """Return the shape that a config.json states; raises ValueError that names what is missing."""
    text = _mapping(config.get("text_config")) or dict(config)
    architecture = next(iter(config.get("architectures") or [""]), "")
    hidden = _need(text, "hidden_size")
    layers = _need(text, "num_hidden_layers")
    heads = _need(text, "num_attention_heads")
    dtype = str(text.get("dtype") or text.get("torch_dtype") or config.get("torch_dtype") or "")
    quant = _mapping(config.get("quantization_config") or text.get("quantization_config"))
    method = str(quant.get("quant_method", ""))
    own = _BYTES.get(dtype, 2.0)
    linear_layers = _linear_layers(text, layers)
    vision = _mapping(config.get("vision_config"))
    return Shape(
        architecture=str(architecture),
        hidden=hidden,
        layers=layers,
        full_layers=layers - linear_layers,
        heads=heads,
        kv_heads=_int(text.get("num_key_value_heads")) or heads,
        head_dim=_int(text.get("head_dim")) or hidden // heads,
        gated=bool(text.get("attn_output_gate", False)),
        inner=_int(text.get("intermediate_size")) or 0,
        vocab=_need(text, "vocab_size"),
        tied=bool(config.get("tie_word_embeddings", text.get("tie_word_embeddings", False))),
        context=_int(text.get("max_position_embeddings")) or 0,
        draft_layers=_int(text.get("mtp_num_hidden_layers") or text.get("num_nextn_predict_layers"))
        or 0,
        vision_params=_vision_params(vision),
        multimodal=bool(vision),
        linear=_linear(text, linear_layers),
        latent=_latent(text),
        experts=_experts(text),
        dtype_bytes=own,
        weight_bytes=_QUANT_BYTES.get(method, own) if method else own,
        quantization=method,
    )


def _linear_layers(text: Mapping[str, Any], layers: int) -> int:
    kinds = text.get("layer_types")
    if isinstance(kinds, list):
        return sum(kind == "linear_attention" for kind in kinds)
    every = _int(text.get("full_attention_interval"))
    if every and _int(text.get("linear_num_value_heads")):
        return layers - layers // every
    return 0


def _linear(text: Mapping[str, Any], layers: int) -> Linear | None:
    if not layers:
        return None
    return Linear(
        layers=layers,
        key_heads=_need(text, "linear_num_key_heads"),
        value_heads=_need(text, "linear_num_value_heads"),
        key_dim=_need(text, "linear_key_head_dim"),
        value_dim=_need(text, "linear_value_head_dim"),
        conv_kernel=_int(text.get("linear_conv_kernel_dim")) or 4,
        state_bytes=_BYTES.get(str(text.get("mamba_ssm_dtype") or "float32"), 4.0),
    )


def _latent(text: Mapping[str, Any]) -> Latent | None:
    rank = _int(text.get("kv_lora_rank"))
    if not rank:
        return None
    return Latent(kv_rank=rank, rope_dim=_int(text.get("qk_rope_head_dim")) or 0)


def _experts(text: Mapping[str, Any]) -> Experts | None:
    count = _int(text.get("num_experts") or text.get("n_routed_experts"))
    if not count:
        return None
    inner = _need(text, "moe_intermediate_size")
    shared = _int(text.get("shared_expert_intermediate_size"))
    if not shared:
        shared = (_int(text.get("n_shared_experts")) or 0) * inner
    return Experts(
        count=count, active=_need(text, "num_experts_per_tok"), inner=inner, shared_inner=shared
    )


def _vision_params(vision: Mapping[str, Any]) -> int:
    """Return a vision tower's weights: blocks of attention and two-matrix MLPs, and the merger."""
    hidden, inner = _int(vision.get("hidden_size")), _int(vision.get("intermediate_size"))
    depth = _int(vision.get("depth") or vision.get("num_hidden_layers"))
    if not (hidden and inner and depth):
        return 0
    merged = hidden * (_int(vision.get("spatial_merge_size")) or 1) ** 2
    merger = merged * merged + merged * (_int(vision.get("out_hidden_size")) or hidden)
    return depth * (4 * hidden * hidden + 2 * hidden * inner) + merger


def _need(text: Mapping[str, Any], name: str) -> int:
    value = _int(text.get(name))
    if not value:
        raise ValueError(f"config.json has no {name}: without it the model's size is unknown")
    return value


def _int(value: object) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**40
    return value if good and isinstance(value, int) else None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
