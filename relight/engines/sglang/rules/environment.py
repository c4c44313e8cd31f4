"""Rules for the machine's software: native libraries, driver, compilers; and for the GPU's kind."""

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import ANOTHER_BACKEND, OLD_KERNELS, tell

_ENV = FailureClass.ENV_TOOLCHAIN
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
        "env.common_ops",
        _ENV,
        ("common_ops", "no module named 'sgl_kernel'", "no module named 'sglang_kernel'"),
        "the kernel package cannot be loaded",
        tell("Install the sgl-kernel (sglang-kernel) that fits torch and CUDA, or use the image."),
        regex(r"could not load|CRITICAL|Error|No module named|not found|undefined"),
    ),
    Rule(
        "env.library",
        _ENV,
        ("cannot open shared object file", "undefined symbol", "glibc_", "glibcxx_", "cxxabi_"),
        "a native library is missing or does not fit",
        tell(
            "Install the packages from one lock, or use the image: torch, CUDA and kernels must fit."
        ),
        regex(
            r"lib[\w.+-]+\.so[\w.]*: cannot open|undefined symbol|version `?(?:GLIBC|CXXABI)\S* not found"
        ),
        regex(r"libnccl-net|NCCL INFO|Plugin load"),
    ),
    Rule(
        "env.cudnn",
        _ENV,
        (
            "cudnn_status_not_initialized",
            "cudnn_status_sublibrary",
            "cudnngetversion",
            "could not load library libcudnn",
            "unable to load any of {libcudnn",
            "cudnn version",
        ),
        "the installed cuDNN does not fit torch",
        tell("Install the nvidia-cudnn that torch pins; take other copies off LD_LIBRARY_PATH."),
        regex(
            r"CUDNN_STATUS_(?:NOT_INIT|SUBLIB)|cudnnGetVersion|libcudnn|cuDNN version .*incompat"
        ),
    ),
    Rule(
        "env.cache",
        _ENV,
        ("permission denied",),
        "a cache for compiled kernels cannot be written",
        tell(
            "Give the server's user its cache folders, or set TRITON_CACHE_DIR and "
            "FLASHINFER_WORKSPACE_BASE."
        ),
        regex(
            r"Permission denied: .*(?:triton|flashinfer|torch_extensions|torchinductor|deep_gemm|"
            r"tvm|\.nv/)"
        ),
    ),
    Rule(
        "env.driver_state",
        _ENV,
        (
            "error 804",
            "error 802",
            "error 803",
            "system not yet initialized",
            "forward compatibility was attempted",
            "driver/library version mismatch",
            "unsupported display driver / cuda driver combination",
            "driver on your system is too old",
            "cuda driver version is insufficient",
            "found no nvidia driver",
            "nvidia driver on your system",
            "cuda driver initialization failed",
            "unexpected error from cudagetdevicecount",
            "not compiled with cuda",
            "no attribute '_cuda_setdevice'",
            "no attribute '_cuda_getdevicecount'",
            "cuda unknown error",
            "failed to initialize nvml",
            "nvml_error",
            "nvmlerror",
            "libcuda.so",
            "unsupported ptx version",
            "the provided ptx was compiled with an unsupported toolchain",
            "provided ptx was compiled",
        ),
        "driver, CUDA and torch do not fit together",
        tell(
            "804: remove the cuda-compat libraries or upgrade the driver. 802: start "
            "nvidia-fabricmanager. Too old: upgrade the driver, or use a build for its CUDA."
        ),
        unless=regex(r"warn(?:ing)?\b.*pynvml|Ignore"),
    ),
    Rule(
        "env.ptxas",
        _ENV,
        ("ptxas", "internal triton ptx codegen error", "gpu-name", "unsupported gpu architecture"),
        "the compiler that comes with torch does not know this GPU",
        Remedy(
            env={"TRITON_PTXAS_PATH": "/usr/local/cuda/bin/ptxas"},
            words="Use the ptxas of a CUDA toolkit that knows the GPU, or a newer torch and Triton.",
            auto="bounded",
        ),
        regex(
            r"ptxas (?:fatal|error)|PTXASError|PTXAS error|codegen error|gpu-name|"
            r"unsupported gpu architecture|No such file or directory: \S*ptxas"
        ),
    ),
    Rule(
        "env.cuda_home",
        _ENV,
        (
            "cuda_home",
            "could not find nvcc",
            "nvcc not found",
            "no such file or directory: 'nvcc'",
            "bin/nvcc",
        ),
        "the CUDA toolkit is not found",
        Remedy(
            env={"CUDA_HOME": "/usr/local/cuda"},
            words="Install the CUDA toolkit and name its folder, or install prebuilt kernels.",
            auto="bounded",
        ),
        regex(
            r"CUDA_HOME .*(?:not set|not found|does not exist|invalid)|find nvcc|nvcc not found|"
            r"(?:No such file or directory|not found):? \S*nvcc|nvcc: (?:not found|No such file)"
        ),
        regex(r"warn"),
    ),
    Rule(
        "env.compiler",
        _ENV,
        (
            "c compiler",
            "python.h",
            "no such file or directory: 'ninja'",
            "no such file or directory: 'gcc'",
            "no such file or directory: 'g++'",
            "ninja is required to load",
            "gcc: error",
            "cannot find -l",
            "cc1plus",
            "unsupported gnu version",
            "unsupported compiler",
            "host_config.h",
            "fatal error: ",
        ),
        "a compiler or its headers are missing on this machine",
        tell(
            "Install build-essential, the Python headers (python3-dev), ninja and the CUDA headers, "
            "or use the image that has them."
        ),
        regex(
            r"C compiler|Python\.h|'(?:ninja|gcc|g\+\+|cc)'|ninja is required|gcc: error|"
            r"cannot find -l|cc1plus.*(?:not found|No such)|unsupported (?:GNU|compiler)|host_config|"
            r"fatal error: \S+\.(?:h|cuh|hpp)\b"
        ),
        regex(r"warning|out of memory"),
    ),
    Rule(
        "env.jit",
        _ENV,
        (
            "ninja build failed",
            "ninja: build stopped",
            "'ninja', '-v'",
            "error building extension",
            "nvcc fatal",
            "nvrtc",
            "jit compilation failed",
            "failed to build extension",
            "calledprocesserror: command",
            "compilation failed",
            "passmanager::run failed",
            "llvm error",
        ),
        "a kernel could not be compiled on this machine",
        Remedy(
            env={"MAX_JOBS": "4"},
            words="Clear the JIT caches once (~/.cache/flashinfer, ~/.triton, "
            "~/.cache/torch_extensions) and compile fewer files at a time; install prebuilt kernels "
            "(flashinfer-cubin, flashinfer-jit-cache) of the right CUDA.",
            auto="bounded",
        ),
        regex(
            r"ninja build failed|ninja: build stopped|'ninja', '-v'|building extension|nvcc fatal|"
            r"nvrtc(?:: |_| ?error| compil)|JIT compilation failed|build extension|"
            r"Command '.*(?:nvcc|gcc|g\+\+|cc|cmake|ninja).*non-zero|compilation failed|"
            r"PassManager::run failed|LLVM ERROR"
        ),
        regex(r"warning|out of memory|Ignore"),
    ),
    Rule(
        "env.killed_compiler",
        _ENV,
        ("nvcc", "cicc", "cc1plus"),
        "the compiler was killed, most likely for its memory",
        Remedy(env={"MAX_JOBS": "2"}, words="Compile fewer files at a time.", auto="bounded"),
        regex(r"(?:nvcc|cicc|cc1plus).*(?:killed|signal 9|died due to signal)"),
    ),
    Rule(
        "env.import",
        _ENV,
        ("importerror", "modulenotfounderror", "no module named", "cannot import name"),
        "a Python package is missing or of another version",
        tell("Install the packages from one lock, or use the image."),
        re.compile(
            r"^(?:\S+: )?(?:ImportError|ModuleNotFoundError): |cannot import name|No module named"
        ),
        regex(r"Ignor|optional|falling back|fallback|warning|transformers_modules|skipp"),
        tier=Tier.CONTEXT,
    ),
    Rule(
        "env.versions",
        _ENV,
        (
            "please install",
            "is installed with version",
            "please upgrade",
            "versionconflict",
            "requires torch",
            "numpy.dtype size changed",
            "_array_api not found",
            "compiled using numpy 1.x",
            "torchvision::nms does not exist",
            "operator torchvision",
            "flashinfer-cubin version",
            "minimum required version",
            "less than the minimum",
        ),
        "installed packages do not fit together",
        tell("Install the packages from one lock, or use the image."),
        regex(
            r"(?:Error|Exception): .*(?:please install|please upgrade|requires|version)|"
            r"is installed with version|dtype size changed|torchvision|does not match|"
            r"minimum required version"
        ),
        regex(r"Ignor|transformers >=|warn"),
        tier=Tier.CONTEXT,
    ),
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
            r"no (?:cuda )?kernel image|invalid device function|InvalidDeviceFunction|NoKernelImage|"
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
            r"(?:fp8|fp4|nvfp4|mxfp4|awq|marlin|gptq)[^.]{0,40}(?:not supported|requires|only supported)|"
            r"requires (?:SM ?\d|sm_\d|hopper|blackwell|cuda capability)|require cuda capability|"
            r"not supported on (?:this (?:gpu|architecture|device)|sm_?\d)|(?:csrc|\.cuh?|\.hpp)\b.*unsupported arch|unsupported arch\w* ?(?:sm|\d)|"
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
            r"backend for (?:prefill|decode) (?:is )?(?:only|not) support|"
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
            r"(?:(?:is|are) )?(?:only |not )?(?:support\w*|requires)|attention backends?|flash_?attn|"
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
