"""Rules for a model that is not known, or whose weights do not fit what was asked."""

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import drop_speculation, tell

_STARTING = frozenset({Stage.IMPORT, Stage.RESOLVE, Stage.SPAWN, Stage.DIST, Stage.LOAD})


def _unknown_type(match: re.Match[str], scene: Scene) -> Remedy:
    text = match.string.lower()
    if "assistant" in text or "eagle" in text or "draft" in text or "draft" in scene.tags:
        return drop_speculation("The draft model's type is unknown here: start without it.")
    return tell(
        "A newer SGLang (with the transformers that it pins) may know the model; do not upgrade "
        "transformers alone."
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "unsupported.type",
        FailureClass.MODEL_UNSUPPORTED,
        (
            "does not recognize this architecture",
            "unrecognized configuration class",
            "unrecognized model in",
            "is already used by a transformers model",
            "are not supported for now",
            "is not a registered model in the transformers library",
            "cannot find model module",
            "no module named 'transformers_modules",
            "requires you to execute the configuration file",
            "contains custom code which must be executed",
            "please pass the argument `trust_remote_code=true`",
            "unsupported architecture",
            "unsupported architectures",
            "tokenizer class",
            "config' object has no attribute",
            "not supported for model",
            "model architectures failed to be inspected",
            "has no sglang implementation and the transformers implementation is not",
            "is not currently supported by sglang",
            "`rope_scaling` must be a dictionary",
            "unknown rope scaling type",
            "unknown rope scaling",
            "does not support bitsandbytes quantization yet",
        ),
        "this SGLang, or its transformers, does not know the model",
        _unknown_type,
        unless=regex(
            r"falling back|ignore|csrc/|\.cuh?:|\.hpp:|tokenizer class .* called from|sm_?\d"
        ),
    ),
    Rule(
        "unsupported.key",
        FailureClass.MODEL_UNSUPPORTED,
        ("keyerror: '",),
        "this transformers does not know the model's type",
        _unknown_type,
        re.compile(r"KeyError: '[a-z0-9_.-]+'\s*$"),
        tags=frozenset({"config"}),
        stages=frozenset({Stage.IMPORT, Stage.RESOLVE, Stage.SPAWN, Stage.DIST}),
    ),
    Rule(
        "unsupported.assistant",
        FailureClass.MODEL_UNSUPPORTED,
        ("_assistant'", "_eagle'", "_eagle3'", "_mtp'"),
        "this transformers does not know the draft model's type",
        _unknown_type,
        re.compile(r"KeyError: '\w+'"),
    ),
    Rule(
        "checkpoint.shape",
        FailureClass.CHECKPOINT_MISMATCH,
        (
            "is not divisible by weight quantization",
            "not divisible by block_n",
            "not divisible by block_k",
            "not divisible by weight",
            "is not divisible by group_size",
            "not aligned with the quantized weight shape",
            "too large tensor parallel size",
            "weight input_size_per_partition",
            "weight output_size_per_partition",
            "is not divisible by min_thread_",
            "size_k must divisible",
            "size_n must divisible",
            "expanded size of the tensor",
            "size mismatch for",
            "attempted to load weight",
            "must match the size of tensor",
            "the size of tensor a",
            "shape mismatch",
            "mismatched shape",
            "is invalid for input of size",
            "exceeds dimension size",
            "start (0) + length",
            "error(s) in loading state_dict",
            "not divisible by tp",
            "must be divisible by tensor parallel",
            "must be divisible by tp",
            "heads must be divisible",
            "heads % ",
            "checksum mismatch",
        ),
        "the weights do not divide or do not match as asked",
        tell("Another tp-size (or ep-size) that divides the model, or another checkpoint."),
        unless=regex(r"page_size|chunked|server_args|capture"),
        stages=_STARTING | {Stage.KVPOOL},
    ),
    Rule(
        "checkpoint.division",
        FailureClass.CHECKPOINT_MISMATCH,
        ("is not divisible by", "must be divisible by", "should be divisible by"),
        "the weights do not divide as asked",
        tell("Another tp-size (or ep-size) that divides the model, or another checkpoint."),
        regex(r"(?:Error|Exception): .*divisible by"),
        regex(r"--[a-z]|page_size|chunked|server_args|capture|nodes|dp_size"),
        tier=Tier.CONTEXT,
        stages=_STARTING | {Stage.KVPOOL},
    ),
    Rule(
        "checkpoint.broken",
        FailureClass.CHECKPOINT_MISMATCH,
        (
            "safetensorerror",
            "metadataincompletebuffer",
            "headertoolarge",
            "headertoosmall",
            "invalidheaderdeserialization",
            "invalid header",
            "error while deserializing header",
            "unpicklingerror",
            "pytorchstreamreader failed",
            "cannot find any model weights",
            "could not find checkpoint files",
            "missing from",
            "are missing from the checkpoint",
            "missing keys (",
            "weights were not initialized from checkpoint",
            "not initialized from the checkpoint",
            "did not initialize all model parameters",
            "are still corrupted",
            "checkpoint files may be corrupted",
            "invalid magic number",
            "unable to load weights from",
            "jsondecodeerror",
            "not a valid gguf",
            "gguf magic invalid",
            "expected magic",
            "file is not a zip file",
        ),
        "files of the checkpoint are broken or missing",
        tell(
            "Compare sizes with the hub and fetch the broken files again (a 130-byte file is a "
            "Git LFS pointer)."
        ),
        regex(
            r"Safetensor|Metadata|Header|Unpickling|StreamReader|Cannot find any|Could not find|"
            r"shard file\(s\) missing|missing from the checkpoint|Missing keys|initialized|"
            r"initialize all|corrupted|magic|zip file|Unable to load weights|JSONDecodeError"
        ),
    ),
    Rule(
        "checkpoint.parameter",
        FailureClass.CHECKPOINT_MISMATCH,
        ("keyerror: '", "not found in params_dict", "has no attribute 'weight_loader'"),
        "the checkpoint names weights that the model does not have",
        tell("Another checkpoint, or an SGLang that knows this one's layout."),
        re.compile(
            r"KeyError: '[\w.]*(?:weight|bias|scale|layers|qweight|proj|embed|experts)[\w.]*'"
            r"|not found in params_dict|weight_loader"
        ),
        tier=Tier.CONTEXT,
        stages=frozenset({Stage.IMPORT, Stage.RESOLVE, Stage.SPAWN, Stage.DIST, Stage.LOAD}),
    ),
    Rule(
        "checkpoint.assert",
        FailureClass.CHECKPOINT_MISMATCH,
        (
            "% tp_size",
            "% self.tp_size",
            "% ep_size",
            "% self.ep_size",
            "% tensor_model_parallel",
            "% world_size",
            "loaded_weight.shape",
            "loaded_weight.size",
        ),
        "the weights do not divide or do not match as asked",
        tell("Another tp-size (or ep-size) that divides the model, or another checkpoint."),
        regex(
            r"assert .*(?:% (?:self\.)?(?:tp_size|ep_size|tensor_model_parallel\w*|world_size)|"
            r"loaded_weight\.)"
        ),
        regex(r"nnodes|dp_size"),
        tier=Tier.FRAME,
        serving=False,
    ),
    Rule(
        "spec.interface",
        FailureClass.SPEC_CONFIG,
        (
            "set_eagle3_layers_to_capture",
            "get_embed_and_head",
            "set_embed_and_head",
            "set_embed",
            "hot_token_id",
            "eagle_aux_hidden_state",
            "spec_algorithm",
            "speculative algorithm",
            "unknown speculative",
        ),
        "this model, or this draft, cannot be used with the speculative algorithm",
        drop_speculation(),
        regex(
            r"has no attribute '(?:set_eagle3|get_embed|set_embed|hot_token)|hot_token_id|"
            r"eagle_aux_hidden|(?:Error|Exception): .*(?:spec_algorithm|speculative algorithm)"
        ),
        serving=False,
        flag="speculative-algorithm",
    ),
    Rule(
        "spec.draft_model",
        FailureClass.SPEC_CONFIG,
        ("draft", "eagle"),
        "the draft model does not go with the model",
        drop_speculation(),
        regex(
            r"(?:Error|Exception): .*(?:draft (?:model|checkpoint|head)|(?:eagle3?|draft)\S* .*"
            r"(?:hidden|vocab|layers?|architecture|mismatch|requires)|draft_model|draft_vocab)"
        ),
        regex(r"memory|--speculative-(?:eagle-topk|num-)|graph"),
        serving=False,
        flag="speculative-draft-model-path",
    ),
    Rule(
        "spec.frame",
        FailureClass.SPEC_CONFIG,
        ("self.draft_worker =", "eagleworker(", "draft_worker = "),
        "the draft model could not be set up",
        drop_speculation(),
        tier=Tier.FRAME,
        serving=False,
        flag="speculative-draft-model-path",
    ),
)
