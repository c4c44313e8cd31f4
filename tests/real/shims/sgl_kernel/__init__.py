"""Stands in for `sgl_kernel`, which has no build for a CPU without AMX on PyPI.

SGLang 0.5.10 and 0.5.23 import names from it when some of their modules are loaded, and call none
of them with `--device cpu`: there SGLang itself turns to plain torch. Any name can be imported from
here; calling it fails and says why.
"""

from collections.abc import Callable
from typing import Never

__version__ = "0.0.0+relight"


def __getattr__(name: str) -> Callable[..., Never]:
    """Return a function called `name` that raises NotImplementedError."""
    if name.startswith("__"):
        raise AttributeError(name)

    def kernel(*_args: object, **_keywords: object) -> Never:
        message = (
            f"sgl_kernel.{name}: this is relight's stand-in, there is no such kernel on the CPU"
        )
        raise NotImplementedError(message)

    kernel.__name__ = name
    return kernel
