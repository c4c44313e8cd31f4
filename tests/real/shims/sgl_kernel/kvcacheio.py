"""Stands in for `sgl_kernel.kvcacheio`, whose names SGLang 0.5.10 imports when it is loaded."""

from . import __getattr__

__all__ = ["__getattr__"]
