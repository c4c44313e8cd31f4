"""A model's bytes by what they are for: from its safetensors headers, or from its shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from relight.core.capacity.model_shape import Shape
from relight.core.model import Frozen

GIB = float(1 << 30)


class Weights(Frozen):
    """Bytes over all GPUs. `active_layers` are those that one token reads (all, when dense).

    `source` says what they rest on: the files' own headers, the index's total, or the config.
    """

    layers: float
    active_layers: float
    head: float
    embedding: float
    draft: float
    vision: float
    source: Literal["headers", "index", "config"]

    @property
    def loaded(self) -> float:
        """Return what the target model occupies: everything but the draft layers."""
        return self.layers + self.head + self.embedding + self.vision

    @property
    def read(self) -> float:
        """Return what one forward pass of one token reads; the embedding is a look-up."""
        return self.active_layers + self.head


def of_shape(shape: Shape) -> Weights:
    """Return the bytes that a shape implies, norms and biases left out (below 0.1 %)."""
    hidden = shape.hidden
    full = shape.full_layers * _attention(shape)
    linear = shape.linear.layers * _linear(shape) if shape.linear else 0
    dense = 3 * hidden * shape.inner
    mlp, active = dense, dense
    if shape.experts:
        one = 3 * hidden * shape.experts.inner
        shared = 3 * hidden * shape.experts.shared_inner + hidden * shape.experts.count
        mlp, active = one * shape.experts.count + shared, one * shape.experts.active + shared
    table = hidden * shape.vocab * shape.dtype_bytes
    draft = shape.draft_layers * (_attention(shape) + mlp + 2 * hidden * hidden)
    return Weights(
        layers=(full + linear + shape.layers * mlp) * shape.weight_bytes,
        active_layers=(full + linear + shape.layers * active) * shape.weight_bytes,
        head=0.0 if shape.tied else table,
        embedding=table,
        draft=draft * shape.dtype_bytes,
        vision=shape.vision_params * shape.dtype_bytes,
        source="config",
    ).model_copy(update={"head": table, "embedding": 0.0} if shape.tied else {})


def of_tensors(tensors: Mapping[str, float], shape: Shape) -> Weights:
    """Return the bytes of the model's own tensors (name -> bytes), sorted by their names."""
    sums = dict.fromkeys(("layers", "head", "embedding", "draft", "vision"), 0.0)
    for name, size in tensors.items():
        sums[_kind(name, shape)] += size
    if shape.tied:
        sums["head"], sums["embedding"] = sums["head"] + sums["embedding"], 0.0
    implied = of_shape(shape)
    share = implied.active_layers / implied.layers if implied.layers else 1.0
    return Weights(active_layers=sums["layers"] * share, source="headers", **sums)


def of_total(total: float, shape: Shape) -> Weights:
    """Return the shape's bytes scaled to a total that the index states (`metadata.total_size`)."""
    implied = of_shape(shape)
    fixed = implied.head + implied.embedding + implied.draft + implied.vision
    layers = max(0.0, total - fixed)
    share = implied.active_layers / implied.layers if implied.layers else 1.0
    return implied.model_copy(
        update={"layers": layers, "active_layers": layers * share, "source": "index"}
    )


def parse_header(header: bytes) -> dict[str, float]:
    """Return tensor bytes by name from one safetensors header (the JSON after its length).

    Raises ValueError for anything that is not such a header.
    """
    entries = json.loads(header)
    if not isinstance(entries, dict):
        raise ValueError("a safetensors header is a JSON object")
    sizes: dict[str, float] = {}
    for name, entry in entries.items():
        if name == "__metadata__":
            continue
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not (isinstance(offsets, list) and len(offsets) == 2):
            raise ValueError(f"tensor {name!r} has no data_offsets")
        begin, end = (int(offset) for offset in offsets)
        if not 0 <= begin <= end:
            raise ValueError(f"tensor {name!r} ends before it begins")
        sizes[name] = float(end - begin)
    return sizes


def _kind(name: str, shape: Shape) -> str:
    lowered = name.lower()
    draft_layer = f"layers.{shape.layers}."
    if lowered.startswith("mtp.") or ".mtp." in lowered or draft_layer in lowered:
        return "draft"
    if any(part in lowered for part in ("visual.", "vision", "mm_projector")):
        return "vision"
    if "embed_tokens" in lowered or "wte." in lowered:
        return "embedding"
    if "lm_head" in lowered:
        return "head"
    return "layers"


def _attention(shape: Shape) -> int:
    query = shape.hidden * shape.heads * shape.head_dim * (2 if shape.gated else 1)
    key_value = 2 * shape.hidden * shape.kv_heads * shape.head_dim
    return query + key_value + shape.heads * shape.head_dim * shape.hidden


def _linear(shape: Shape) -> int:
    linear = shape.linear
    if linear is None:
        return 0
    keys, values = linear.key_heads * linear.key_dim, linear.value_heads * linear.value_dim
    gates = shape.hidden * 2 * linear.value_heads
    return shape.hidden * (2 * keys + 2 * values) + gates + values * shape.hidden
