"""Rules for the GPU's kind: kernels, data types and backends that it does not have."""

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import ANOTHER_BACKEND, OLD_KERNELS

_ARCH = FailureClass.GPU_ARCH_UNSUPPORTED


def _backend(match: re.Match[str], scene: Scene) -> Remedy:
    text = match.string.lower()
    if "vision" in scene.tags or "multimodal" in text or "'fa3' backend is not supported" in text:
        return ANOTHER_BACKEND.model_copy(
            update={
                "set": {"mm-attention-backend": "triton_attn"},
                "words": "Choose another attention backend, for the vision part too.",
            }
        )
    if "prefill" in text and "decode" not in text:
        return ANOTHER_BACKEND.model_copy(
            update={"drop": ("prefill-attention-backend", "attention-backend")}
        )
    return ANOTHER_BACKEND


RULES: tuple[Rule, ...] = (
    Rule(
        "arch.no_image",
        _ARCH,
        (
            "no kernel image is available",
            "no kernel image",
            "invalid device function",
            "no cuda kernel image",
            "cudaerrornokernelimagefordevice",
            "cudaerrorinvaliddevicefunction",
            "is not compatible with the current pytorch installation",
            "only supports sm75 and above",
            "sm75 and above",
            "no cubin found",
            "cubin not found",
            "not compiled for this gpu",
            "no suitable kernel",
            "error building the kernel for architecture",
            "arch conditional mma instruction used without targeting",
            "requires compute capability",
            "compute capability",
        ),
        "the kernels have no code for this GPU",
        OLD_KERNELS,
        regex(
            r"no (?:cuda )?kernel image|invalid device function|InvalidDeviceFunction|"
            r"NoKernelImage|"
            r"current PyTorch installation|sm75 and above|cubin|not compiled for this|"
            r"no suitable kernel|arch conditional|"
            r"(?:Error|Exception).*compute capability|requires compute capability"
        ),
        regex(r"UserWarning|warnings\.warn|bfloat16"),
    ),
    Rule(
        "arch.dtype",
        _ARCH,
        (
            "fp8e4nv",
            "fp8e4b15",
            "fp8e5",
            "bfloat16 is only supported on gpus",
            "is not supported for the current gpu",
            "minimum capability",
            "fp8 is not supported",
            "fp8 gemm is not supported",
            "requires sm",
            "requires hopper",
            "requires blackwell",
            "is not supported on this gpu",
            "not supported on sm",
            "not supported on this architecture",
            "unsupported arch",
            "only supported on sm",
            "require cuda capability",
            "requires cuda capability",
            "marlin requires",
            "device capability",
            "does not support fp8",
            "mxfp4",
            "nvfp4",
        ),
        "this GPU has no support for a data type or kernel that was asked for",
        Remedy(
            drop=("kv-cache-dtype", "fp8-gemm-backend", "moe-runner-backend"),
            words="Another checkpoint or data type for this GPU; an fp8 KV cache and the kernel "
            "backends may be left out.",
            auto="bounded",
        ),
        regex(
            r"(?:fp8e4nv|fp8e4b15|fp8e5\w*).{0,20}not supported|Bfloat16 is only supported|"
            r"not supported for the current GPU|Minimum capability|"
            r"(?:fp8|fp4|nvfp4|mxfp4|awq|marlin|gptq)[^.]{0,40}(?:not supported|requires|only "
            r"supported)|"
            r"requires (?:SM ?\d|sm_\d|hopper|blackwell|cuda capability)|require cuda capability|"
            r"not supported on (?:this (?:gpu|architecture|device)|sm_?\d)|(?:csrc|\.cuh?|"
            r"\.hpp)\b.*unsupported arch|unsupported arch\w* ?(?:sm|\d)|"
            r"(?:Error|Exception).*device capability|only supported on sm_?\d|does not support fp8"
        ),
        regex(r"backend is only supported|backends? (?:is|are)|falling back|warning"),
    ),
    Rule(
        "arch.shared_memory",
        _ARCH,
        ("out of resource: shared memory", "outofresources", "too much shared data"),
        "a Triton kernel wants more shared memory than this GPU has (it is not VRAM)",
        Remedy(
            set={"attention-backend": "flashinfer"},
            words="Another attention backend than triton, or a newer SGLang; memory flags do not "
            "help.",
            auto="bounded",
        ),
        flag="attention-backend",
    ),
    Rule(
        "arch.deterministic",
        _ARCH,
        ("batch_invariant_ops", "matmul_persistent"),
        "the kernels of deterministic inference do not run on this GPU",
        Remedy(
            drop=("enable-deterministic-inference",),
            words="Leave out --enable-deterministic-inference.",
            auto="bounded",
        ),
        tier=Tier.CONTEXT,
        flag="enable-deterministic-inference",
    ),
    Rule(
        "backend.phase",
        FailureClass.BACKEND_UNSUPPORTED,
        ("backend for prefill", "backend for decode", "prefill backend", "decode backend"),
        "an attention backend that was asked for does not run on this GPU or model",
        _backend,
        regex(
            r"backend for (?:prefill|decode) (?:is )?(?:(?:only|not) support|requires)|"
            r"(?:Error|Exception): .*(?:prefill|decode) (?:attention )?backend .*support"
        ),
        regex(r"prefill-only|graph|fall(?:ing)? ?back"),
        flag="prefill-attention-backend",
        serving=False,
    ),
    Rule(
        "backend.unsupported",
        FailureClass.BACKEND_UNSUPPORTED,
        (
            "backend is only supported on",
            "backend for prefill is only supported",
            "backend for decode is only supported",
            "backends are supported on",
            "backend is not supported on",
            "backend is not supported",
            "backend only supports",
            "backend does not support",
            "backend requires",
            "attention backend",
            "attention backends",
            "invalid attention backend",
            "unsupported attention backend",
            "requires sm>=",
            "flash attention only supports",
            "flashattention only supports",
            "flashattention v3",
            "flashattention3",
            "flash_attn",
            "fa3 only",
            "fa3 requires",
            "flashmla",
            "cutlass_mla",
            "trtllm_mha",
            "trtllm_mla",
            "trtllm mha",
            "trtllm mla",
            "grammar backend",
        ),
        "a backend that was asked for does not run on this GPU or model",
        _backend,
        regex(
            r"(?:(?:Error|Exception|Assertion\w*):? .*(?:backends? (?:for (?:prefill|decode) )?"
            r"(?:(?:is|are) )?(?:only |not )?(?:support\w*|requires)|attention backends?|"
            r"flash_?attn|"
            r"Flash ?Attention|fa3|flashmla|cutlass_mla|trtllm[_ ]m(?:ha|la))|"
            r"backends? (?:for (?:prefill|decode) )?(?:is|are) (?:only|not) supported on|"
            r"backends are supported on|FlashAttention only supports)"
        ),
        regex(
            r"fall(?:ing)? ?back|default|graph|memory|No module named|cannot import|ImportError|"
            r"illegal memory|no kernel image"
        ),
        flag="attention-backend",
        serving=False,
    ),
    Rule(
        "backend.grammar",
        FailureClass.BACKEND_UNSUPPORTED,
        ("constrained/", "grammar_backend", "llguidance", "xgrammar", "outlines"),
        "the grammar backend cannot work with this tokenizer",
        Remedy(
            drop=("grammar-backend",),
            words="Let SGLang choose the grammar backend, or set it to none.",
            auto="bounded",
        ),
        regex(r'File ".*(?:constrained/|llguidance|xgrammar|outlines)'),
        tier=Tier.FRAME,
        stages=frozenset(set(Stage) - {Stage.SERVING, Stage.SHUTDOWN}),
        serving=False,
        flag="grammar-backend",
    ),
)
