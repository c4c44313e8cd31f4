"""Rules for the machine's software: native libraries, driver, compilers, packages."""

from __future__ import annotations

import re

from relight.core.failure import FailureClass, Remedy
from relight.engines.sglang.rule import Rule, Tier, regex
from relight.engines.sglang.rules.remedies import tell

_ENV = FailureClass.ENV_TOOLCHAIN


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
            "Install the packages from one lock, or use the image: torch, CUDA and kernels must "
            "fit."
        ),
        regex(
            r"lib[\w.+-]+\.so[\w.]*: cannot open|undefined symbol|version `?(?:GLIBC|CXXABI)\S* "
            r"not found"
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
            words="Use the ptxas of a CUDA that knows the GPU, or a newer torch and Triton.",
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
            "Install build-essential, the Python headers (python3-dev), ninja and the CUDA "
            "headers, "
            "or use the image that has them."
        ),
        regex(
            r"C compiler|Python\.h|'(?:ninja|gcc|g\+\+|cc)'|ninja is required|gcc: error|"
            r"cannot find -l|cc1plus.*(?:not found|No such)|unsupported (?:GNU|compiler)|"
            r"host_config|"
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
            "~/.cache/torch_extensions) and compile fewer files at a time; install prebuilt "
            "kernels "
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
)
