"""Writes the tiny model of ring 5: a Qwen3 of two layers with random weights and its own tokenizer.

Nothing is downloaded and only the standard library is used, so the bytes are the same everywhere.
Every token is printable ASCII: with a byte-level vocabulary random output is broken UTF-8, which
SGLang holds back, and streamed chunks come late or empty.
"""

import json
import math
import random
import string
import struct
import sys
from array import array
from collections.abc import Iterable
from itertools import islice, product
from pathlib import Path
from typing import Final

VOCABULARY: Final = 512
HIDDEN: Final = 128
INTERMEDIATE: Final = 256
LAYERS: Final = 2
HEADS: Final = 4
KV_HEADS: Final = 2
HEAD_DIM: Final = 32
CONTEXT: Final = 4096

SPECIAL: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
CHARACTERS: Final = ("\n", *(chr(code) for code in range(32, 127)))
CHAT_TEMPLATE: Final = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def pairs() -> list[tuple[str, str]]:
    """Return the two-character tokens, most wanted first, as many as the vocabulary has room for.

    They are merges of the tokenizer too, so random tokens that are decoded and encoded again come
    to about the same number: a benchmark with random prompts has the length it asked for.
    """
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    wanted = (
        *product(" ", string.ascii_letters + string.digits),
        *product(letters[:18], letters[:18]),
        *product(string.digits, string.digits),
    )
    return list(islice(wanted, VOCABULARY - len(CHARACTERS) - len(SPECIAL)))


def tokenizer() -> dict[str, object]:
    """Return the content of tokenizer.json: byte pairs of printable ASCII, `~` for others."""
    texts = (*CHARACTERS, *(left + right for left, right in pairs()))
    special = [
        {
            "id": len(texts) + index,
            "content": content,
            "special": True,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
        }
        for index, content in enumerate(SPECIAL)
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "~",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: index for index, text in enumerate(texts)},
            "merges": [list(pair) for pair in pairs()],
        },
    }


def configuration() -> dict[str, object]:
    """Return the content of config.json, the shape that `weights` has."""
    first_special = VOCABULARY - len(SPECIAL)
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "hidden_size": HIDDEN,
        "intermediate_size": INTERMEDIATE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "hidden_act": "silu",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": first_special,
        "eos_token_id": first_special + SPECIAL.index("<|im_end|>"),
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "initializer_range": 0.02,
    }


def shapes() -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor by its name; those of one dimension are norms, all ones."""
    queries, keys = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
    of_layer: dict[str, tuple[int, ...]] = {
        "input_layernorm": (HIDDEN,),
        "post_attention_layernorm": (HIDDEN,),
        "self_attn.q_proj": (queries, HIDDEN),
        "self_attn.k_proj": (keys, HIDDEN),
        "self_attn.v_proj": (keys, HIDDEN),
        "self_attn.o_proj": (HIDDEN, queries),
        "self_attn.q_norm": (HEAD_DIM,),
        "self_attn.k_norm": (HEAD_DIM,),
        "mlp.gate_proj": (INTERMEDIATE, HIDDEN),
        "mlp.up_proj": (INTERMEDIATE, HIDDEN),
        "mlp.down_proj": (HIDDEN, INTERMEDIATE),
    }
    layers = {
        f"model.layers.{layer}.{part}.weight": shape
        for layer in range(LAYERS)
        for part, shape in of_layer.items()
    }
    return {
        "model.embed_tokens.weight": (VOCABULARY, HIDDEN),
        "model.norm.weight": (HIDDEN,),
        "lm_head.weight": (VOCABULARY, HIDDEN),
        **layers,
    }


def bfloat16(values: Iterable[float]) -> bytes:
    """Return the values as bfloat16: the upper two of the four little-endian bytes of a float32."""
    whole = array("f", values).tobytes()
    half = bytearray(len(whole) // 2)
    half[0::2] = whole[2::4]
    half[1::2] = whole[3::4]
    return bytes(half)


def weights() -> bytes:
    """Return the safetensors file: 8 bytes of header length, a JSON header, then the tensors."""
    source = random.Random(0)
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = bytearray()
    for name, shape in shapes().items():
        count = math.prod(shape)
        norm = len(shape) == 1
        data = bfloat16(1.0 if norm else source.gauss(0, 0.02) for _ in range(count))
        header[name] = {
            "dtype": "BF16",
            "shape": shape,
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(body)


def write(folder: Path) -> None:
    """Write the model's five files into `folder`, which must exist."""
    end = SPECIAL.index("<|im_end|>") + VOCABULARY - len(SPECIAL)
    documents: dict[str, dict[str, object]] = {
        "config.json": configuration(),
        "generation_config.json": {"eos_token_id": end, "do_sample": True, "temperature": 0.7},
        "tokenizer.json": tokenizer(),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "model_max_length": CONTEXT,
            "clean_up_tokenization_spaces": False,
            "chat_template": CHAT_TEMPLATE,
        },
    }
    for name, content in documents.items():
        (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(weights())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
