"""What a start needs to know of a model: its config.json, or a guess from its name."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SIZE = re.compile(r"(\d+(?:\.\d+)?)b\b", re.IGNORECASE)
_HYBRID = re.compile(r"qwen3[._]?[56]|qwen3[_-]?next|mamba", re.IGNORECASE)
_HYBRID_ARCH = "Qwen3_5ForConditionalGeneration"


@dataclass(frozen=True)
class ModelFacts:
    """Architecture, context length in tokens, and weights in GB of one model."""

    architecture: str
    model_type: str
    context_length: int
    weights_gb: float
    hybrid: bool
    dense_heads: int

    @property
    def multimodal(self) -> bool:
        """Vision and text in one model."""
        return self.architecture.endswith("ForConditionalGeneration")


def guess(name: str) -> ModelFacts:
    """Facts of a model that is only a name."""
    size = _SIZE.search(name)
    weights = 2.0 * float(size.group(1)) if size else 0.01
    if _HYBRID.search(name):
        return ModelFacts(_HYBRID_ARCH, "qwen3_5", 262144, weights, hybrid=True, dense_heads=24)
    return ModelFacts("Qwen3ForCausalLM", "qwen3", 40960, weights, hybrid=False, dense_heads=16)


def _weights_gb(folder: Path) -> float:
    files = [*folder.glob("*.safetensors"), *folder.glob("*.bin")]
    return sum(file.stat().st_size for file in files) / 1e9


def read(folder: Path) -> ModelFacts:
    """Facts of a model folder that holds a config.json."""
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    text: dict[str, Any] = config.get("text_config") or config
    named = guess(folder.name)
    architecture = str((config.get("architectures") or [named.architecture])[0])
    return ModelFacts(
        architecture=architecture,
        model_type=str(config.get("model_type", named.model_type)),
        context_length=int(text.get("max_position_embeddings", named.context_length)),
        weights_gb=_weights_gb(folder) or named.weights_gb,
        hybrid=bool(_HYBRID.search(architecture)) or "layer_types" in text,
        dense_heads=int(text.get("num_attention_heads", named.dense_heads)),
    )
