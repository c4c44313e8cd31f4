"""Scenarios that end in the main process before a scheduler exists: arguments, model, imports."""

from __future__ import annotations

from relight.standin.scenarios.kinds import REFUSE, Scenario

_HOOK = ("server_args.py", "self._handle_model_specific_adjustments()")

ARGUMENTS = (
    Scenario(
        "cli_args",
        "the flag that it is bound to is unknown to this version: usage, rc 2",
        "cli_args",
        "args",
        REFUSE,
        error="unrecognized arguments: {flag}",
        rc=2,
    ),
    Scenario(
        "cli_ambiguous",
        "the flag that it is bound to is a prefix of two flags: usage, rc 2",
        "cli_args",
        "args",
        REFUSE,
        error="ambiguous option: {flag} could match {flag}-decode, {flag}-prefill",
        rc=2,
    ),
    Scenario(
        "flag_conflict",
        "two flags contradict each other: ValueError before server_args, rc 1",
        "flag_conflict",
        "resolve",
        REFUSE,
        error="ValueError: --mamba-radix-cache-strategy=extra_buffer needs a model with mamba "
        "state, but Qwen2ForCausalLM has none. Use 'auto' (default) or 'no_buffer'.",
        frames=(_HOOK,),
    ),
    Scenario(
        "model_access",
        "the hub refuses the model: gated repository, 401, rc 1",
        "model_access",
        "resolve",
        REFUSE,
        error="OSError: You are trying to access a gated repo.\nMake sure to have access to it at "
        "https://huggingface.co/{model}.\n401 Client Error. (Request ID: Root=1-0)\n\n"
        "Access to model {model} is restricted. You must have access to it and be authenticated "
        "to access it. Please log in.",
        frames=(("configs/model_config.py", "self.hf_config = get_config("),),
    ),
    Scenario(
        "model_unsupported",
        "the model's type is unknown to the transformers installed: ValueError, rc 1",
        "model_unsupported",
        "resolve",
        REFUSE,
        error="ValueError: The checkpoint you are trying to load has model type `glm5_next` but "
        "Transformers does not recognize this architecture. This could be because of an issue "
        "with the checkpoint, or because your version of Transformers is out of date.",
        frames=(("configs/model_config.py", "self.hf_config = get_config("),),
    ),
    Scenario(
        "env_toolchain",
        "a native library of the engine cannot be loaded: ImportError at once, rc 1",
        "env_toolchain",
        "import",
        REFUSE,
        error="ImportError: \n[sgl_kernel] CRITICAL: Could not load any common_ops library!\n"
        "libnvrtc.so.12: cannot open shared object file: No such file or directory",
        frames=(("layers/activation.py", "from sgl_kernel import gelu_and_mul"),),
    ),
    Scenario(
        "driver_too_old",
        "the driver is older than the CUDA of torch: RuntimeError at import, rc 1",
        "env_toolchain",
        "import",
        REFUSE,
        error="RuntimeError: The NVIDIA driver on your system is too old (found version 12020). "
        "Please update your GPU driver by downloading and installing a new version.",
        frames=(("utils/common.py", "torch.cuda.get_device_capability()"),),
    ),
    Scenario(
        "backend_unsupported",
        "the attention backend is not for this GPU: ValueError, rc 1",
        "backend_unsupported",
        "resolve",
        REFUSE,
        error="ValueError: TRTLLM MHA backend is only supported on Blackwell GPUs (SM100). "
        "Please use a different backend.",
        frames=(("server_args.py", "self._handle_attention_backend_compatibility()"),),
        cured_by=("attention-backend=triton", "attention-backend=flashinfer"),
    ),
    Scenario(
        "no_gpu",
        "no accelerator is visible: RuntimeError, rc 1",
        "gpu_unavailable",
        "resolve",
        REFUSE,
        error="RuntimeError: No accelerator (CUDA, XPU, HPU, NPU, MUSA, MPS) is available.",
        frames=(("utils/common.py", "self.device = get_device()"),),
        cured_by=("device=cpu",),
    ),
    Scenario(
        "wrong_python_args",
        "the launcher passes a flag that its own ServerArgs does not know: TypeError, rc 1",
        "cli_args",
        "resolve",
        REFUSE,
        error="TypeError: ServerArgs.__init__() got an unexpected keyword argument "
        "'disable_piecewise_cuda_graph'",
        frames=(("server_args.py", "return cls(**{attr: getattr(args, attr) for attr in attrs})"),),
    ),
)
