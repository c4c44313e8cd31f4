"""Writes the project with which relight is proved on a GPU: one host, SGLang 0.5.12, a 27B shape.

    python tests/gpu/project.py FOLDER SGLANG_FOLDER TP

SGLANG_FOLDER holds `site` (the packages), `lib` and `models`. The weights are dummies: speed and
memory are real, the text is nonsense, and no drafted token is ever accepted.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MODEL = "Qwen3.6-27B-dummy"


def hosts(sglang: Path, tp: int) -> dict[str, Any]:
    """Return the inventory: this machine, its GPUs, SGLang's packages on the engine's path."""
    engine = {
        "python": sys.executable,
        "env": {
            "PYTHONPATH": str(sglang / "site"),
            "LD_LIBRARY_PATH": str(sglang / "lib"),
            "HF_HUB_OFFLINE": "1",
        },
    }
    service = {"preset": "gpu-27b", "port": 30001, "gpus": list(range(tp))}
    host = {
        "ansible_connection": "local",
        "relight_engine": engine,
        "relight_launcher": "process",
        "relight_services": {"main": service},
    }
    return {"all": {"hosts": {"gpu": host}}}


def preset(model: Path, tp: int) -> dict[str, Any]:
    """Return qwen3.6-27b's flags and layers for a dummy model of its shape."""
    flags: dict[str, Any] = {
        "load-format": "dummy",
        "tp-size": tp,
        "context-length": 131072,
        "mem-fraction-static": 0.88,
        "max-running-requests": 16,
        "speculative-algorithm": "NEXTN",
        "speculative-num-steps": 3,
        "speculative-eagle-topk": 1,
        "speculative-num-draft-tokens": 4,
        "mamba-full-memory-ratio": 0.5,
        "mamba-scheduler-strategy": "extra_buffer",
        "reasoning-parser": "qwen3",
        "tool-call-parser": "qwen3_coder",
    }
    if tp > 1:
        flags["enforce-disable-flashinfer-allreduce-fusion"] = True
    return {
        "engine": "sglang",
        "engine_version": ">=0.5.10,<0.5.23",
        "model": str(model),
        "served_name": "qwen3.6-27b",
        "flags": flags,
        "layers": {
            "prefill-graphs": {"flags": {"enforce-piecewise-cuda-graph": True}},
            "overlap": {"flags": {"enable-single-batch-overlap": True}},
            "text-only": {"flags": {"language-only": True}},
        },
        "readiness": {"within": "8m", "stall": "5m", "settle": "5s"},
        "max_downtime": "20m",
        "benchmark": {"requests": 4, "max_tokens": 192},
    }


def main() -> None:
    """Write the folder."""
    folder, sglang, tp = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    model = sglang / "models" / MODEL
    if not model.is_dir():
        sys.exit(f"there is no {model}")
    presets = folder / "inventory" / "presets"
    presets.mkdir(parents=True, exist_ok=True)
    (folder / "inventory" / "hosts.yml").write_text(json.dumps(hosts(sglang, tp), indent=2))
    (presets / "gpu-27b.yml").write_text(json.dumps(preset(model, tp), indent=2))
    print(f"wrote {folder}: tp {tp}, model {model}")  # noqa: T201 - what a person waits for


if __name__ == "__main__":
    main()
