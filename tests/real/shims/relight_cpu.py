"""Loaded at every start of the test environment's Python: what SGLang needs without a GPU.

Two defaults are set in the process environment (a caller's own value wins), so that whoever starts
SGLang with this Python needs to know of neither. And PyPI's torchvision is made importable beside
a CPU build of torch: its compiled part wants CUDA libraries, does not load, and its registrations
then fail on two operators that nobody has declared, so they are declared just before.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_DEFAULTS = {"SGLANG_USE_CPU_ENGINE": "1", "HF_HUB_OFFLINE": "1"}
_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


class TorchvisionOperators:
    """A finder that finds nothing; it declares operators when their module is asked for."""

    declared: object = None

    @classmethod
    def find_spec(
        cls, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Declare `nms` and `qnms` before `torchvision._meta_registrations`; always answer None."""
        if fullname == "torchvision._meta_registrations" and cls.declared is None:
            torch = importlib.import_module("torch")
            library = torch.library.Library("torchvision", "FRAGMENT")
            for operator in ("nms", "qnms"):
                if not hasattr(torch.ops.torchvision, operator):
                    library.define(operator + _SCHEMA)
            # The declarations live as long as the library object does.
            cls.declared = library
        return None


for _name, _value in _DEFAULTS.items():
    os.environ.setdefault(_name, _value)
sys.meta_path.insert(0, TorchvisionOperators)
