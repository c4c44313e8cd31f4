"""Asks a host for what ceiling and fit need: one Python script, and the reading of its answer.

The script needs the standard library alone. Memory, bus width and clocks come from the driver's own
library (NVML by ctypes: nvidia-smi does not tell the bus width); tensor sizes from the headers of
the model's safetensors files, which are read without the weights. A model that is named by a hub's
name is looked for where the engine will: in the host's own cache of that hub, at its `main`.
"""

from __future__ import annotations

import json
from typing import Any

from relight.core.capacity.capacity_facts import CapacityFacts, GpuFacts, Interconnect, ModelFacts
from relight.core.flags import Flags

SCRIPT = r"""
import ctypes, glob, json, os, struct, sys

def cached(name):
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "huggingface")
    root = os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")
    copies = os.path.join(root, "models--" + name.replace("/", "--"))
    try:
        with open(os.path.join(copies, "refs", "main"), encoding="utf-8") as stream:
            kept = [os.path.join(copies, "snapshots", stream.read().strip())]
    except OSError:
        kept = sorted(glob.glob(os.path.join(copies, "snapshots", "*")), key=os.path.getmtime)
    kept = [path for path in kept if os.path.isfile(os.path.join(path, "config.json"))]
    if not kept:
        raise ValueError("%s is no folder on this host, and its cache %s holds no copy; fetch it"
                         " there (hf download %s), or name its folder as the model"
                         % (name, root, name))
    return kept[-1]

def folder_of(name):
    if os.path.isdir(name):
        return name
    if name.startswith(("/", "~", ".")) or name.count("/") > 1:
        raise ValueError("there is no folder %s" % name)
    return cached(name)

def model(name):
    found = {"config": {}, "tensors": {}}
    path = folder_of(name)
    if not os.path.isfile(os.path.join(path, "config.json")):
        raise ValueError("%s has no config.json: it is no model's folder" % path)
    with open(os.path.join(path, "config.json"), encoding="utf-8") as stream:
        found["config"] = json.load(stream)
    for name in sorted(glob.glob(os.path.join(path, "*.safetensors"))):
        with open(name, "rb") as stream:
            size = struct.unpack("<Q", stream.read(8))[0]
            if size > 64 << 20:
                continue
            for key, entry in json.loads(stream.read(size)).items():
                if key != "__metadata__":
                    begin, end = entry["data_offsets"]
                    found["tensors"][key] = end - begin
    return found

def gpus():
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    if nvml.nvmlInit_v2():
        return [], None
    count = ctypes.c_uint()
    nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
    handles, cards = [], []
    for index in range(count.value):
        handle = ctypes.c_void_p()
        nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        handles.append(handle)
        name = ctypes.create_string_buffer(96)
        nvml.nvmlDeviceGetName(handle, name, 96)
        memory = (ctypes.c_ulonglong * 3)()
        nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
        card = {"name": name.value.decode(errors="replace"),
                "memory_total_mib": memory[0] / 1048576, "free_mib": memory[1] / 1048576}
        for key, call, extra in (("bus_bits", "nvmlDeviceGetMemoryBusWidth", ()),
                                 ("memory_mhz", "nvmlDeviceGetMaxClockInfo", (2,)),
                                 ("link_gen_possible", "nvmlDeviceGetMaxPcieLinkGeneration", ())):
            value = ctypes.c_uint()
            function = getattr(nvml, call, None)
            if function and function(handle, *extra, ctypes.byref(value)) == 0 and value.value:
                card[key] = value.value
        major, minor = ctypes.c_int(), ctypes.c_int()
        if nvml.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major),
                                                   ctypes.byref(minor)) == 0:
            card["compute_capability"] = "%d.%d" % (major.value, minor.value)
        cards.append(card)
    p2p = None
    if len(handles) > 1:
        state = ctypes.c_int()
        states = [nvml.nvmlDeviceGetP2PStatus(one, two, 0, ctypes.byref(state)) or state.value
                  for one in handles for two in handles if one is not two]
        p2p = not any(states)
    return cards, p2p

answer = {}
try:
    answer["gpus"], answer["p2p"] = gpus()
except (OSError, AttributeError):
    answer["gpus"], answer["p2p"] = [], None
try:
    answer["model"] = model(sys.argv[1])
except OSError as error:
    answer["model_error"] = "%s: %s" % (error.filename, error.strerror)
except (ValueError, KeyError, struct.error) as error:
    answer["model_error"] = str(error)
print(json.dumps(answer))
"""


def read_answer(
    text: str, *, host: str, flags: Flags, engine_version: str, empty: bool
) -> CapacityFacts:
    """Return the facts of a host's answer; raises ValueError, in words, where one is missing.

    `empty` says that the GPUs are free but for a server of ours that will be stopped: what the
    driver calls free then counts for nothing, and the engine's share is estimated from the total.
    """
    try:
        answer = json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError, RecursionError):
        raise ValueError("the host's answer is not JSON") from None
    if not isinstance(answer, dict):
        raise ValueError("the host's answer is not an object")
    if answer.get("model_error"):
        raise ValueError(f"the model's files cannot be read: {answer['model_error']}")
    cards = answer.get("gpus")
    if not isinstance(cards, list) or not cards:
        raise ValueError("the driver names no GPU on this host")
    return CapacityFacts(
        host=host,
        gpus=tuple(_gpu(card, empty=empty) for card in cards),
        link=Interconnect(p2p=_truth(answer.get("p2p"))),
        model=ModelFacts.model_validate(answer.get("model")),
        flags=flags,
        engine_version=engine_version,
    )


def _gpu(card: dict[str, Any], *, empty: bool) -> GpuFacts:
    fields = {name: value for name, value in card.items() if name != "free_mib"}
    free = card.get("free_mib")
    if not empty and isinstance(free, int | float) and free > 0:
        fields["memory_free_gib"] = free / 1024
    return GpuFacts.model_validate(fields)


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
