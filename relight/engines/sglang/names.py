"""SGLang's flag names: aliases, what no fallback may touch, what the service or preset binds."""

from __future__ import annotations

# One argument, several spellings (0.5.10 to 0.5.23, srt/server_args.py and srt/arg_groups/fields).
# The name that stays is the field of ServerArgs, which /server_info shows too. Two-letter forms are
# argparse abbreviations that every tutorial uses.
ALIASES: dict[str, str] = {
    "model": "model-path",
    "tp": "tp-size",
    "tensor-parallel-size": "tp-size",
    "dp": "dp-size",
    "data-parallel-size": "dp-size",
    "pp": "pp-size",
    "pipeline-parallel-size": "pp-size",
    "ep": "ep-size",
    "expert-parallel-size": "ep-size",
    "attention-context-parallel-size": "attn-cp-size",
    "attention-data-parallel-size": "attn-dp-size",
    "moe-data-parallel-size": "moe-dp-size",
    "decode-context-parallel-size": "dcp-size",
    "nccl-init-addr": "dist-init-addr",
    "speculative-draft-model": "speculative-draft-model-path",
    "speculative-algo": "speculative-algorithm",
    "hierarchical-sparse-attention-extra-config": "hisparse-config",
    "enable-hicache": "enable-hierarchical-cache",
    "context-bucket": "cuda-graph-prefill-max-context",
    "grpc-http-sidecar-port": "smg-http-sidecar-port",
}

RESERVED: dict[str, str] = {
    "model-path": "model",
    "model": "model",
    "served-model-name": "served_name",
    "port": "port of the service",
}

# They change results, the interface or security: never dropped nor changed without a person.
_PROTECTED = (
    "admin-api-key",
    "api-key",
    "attn-cp-size",
    "attn-dp-size",
    "chat-template",
    "completion-template",
    "config",
    "context-length",
    "device",
    "disaggregation-mode",
    "dist-init-addr",
    "dp-size",
    "dtype",
    "enable-dp-attention",
    "enable-lora",
    "ep-size",
    "host",
    "is-embedding",
    "json-model-override-args",
    "load-format",
    "lora-paths",
    "model-path",
    "moe-dp-size",
    "nnodes",
    "node-rank",
    "port",
    "pp-size",
    "quantization",
    "quantization-param-path",
    "reasoning-parser",
    "revision",
    "served-model-name",
    "speculative-accept-threshold-acc",
    "speculative-accept-threshold-single",
    "ssl-certfile",
    "ssl-keyfile",
    "ssl-ca-certs",
    "tokenizer-mode",
    "tokenizer-path",
    "tool-call-parser",
    "tp-size",
    "trust-remote-code",
)
PROTECTED: frozenset[str] = frozenset(_PROTECTED) | frozenset(
    alias for alias, name in ALIASES.items() if name in _PROTECTED
)

SPECULATIVE: tuple[str, ...] = (
    "speculative-algorithm",
    "speculative-draft-model-path",
    "speculative-draft-model-revision",
    "speculative-draft-load-format",
    "speculative-draft-model-quantization",
    "speculative-num-steps",
    "speculative-eagle-topk",
    "speculative-num-draft-tokens",
    "speculative-adaptive",
    "speculative-attention-mode",
    "speculative-draft-attention-backend",
    "speculative-draft-window-size",
    "speculative-moe-runner-backend",
    "speculative-token-map",
)
"""Flags of speculative decoding: they only work together, so they are dropped together."""

SECRETS: frozenset[str] = frozenset({"api-key", "admin-api-key", "ssl-keyfile-password"})
"""Flags whose value is never kept nor shown."""


def canonical(flag: str) -> str:
    """Return the flag's one name among its aliases, dashes and underscores being one."""
    name = flag.lstrip("-").replace("_", "-")
    return ALIASES.get(name, name)
