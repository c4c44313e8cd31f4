"""What the server says of itself: model_info, server_info, loads, models, metrics."""

from __future__ import annotations

import datetime as dt
import time
from typing import Any

from relight.standin.engine import Engine


def models(engine: Engine) -> dict[str, Any]:
    """GET /v1/models."""
    name = engine.settings.served_name
    card = {
        "id": name,
        "object": "model",
        "created": int(time.time()),
        "owned_by": "sglang",
        "root": name,
        "parent": None,
        "max_model_len": engine.settings.context_length,
    }
    return {"object": "list", "data": [card]}


def model_info(engine: Engine) -> dict[str, Any]:
    """GET /model_info, with the key `standin` that SGLang does not have."""
    settings = engine.settings
    path = str(settings.values["model_path"])
    if settings.playing("wrong_model"):
        path = "/models/somebody-elses-model"
    info: dict[str, Any] = {
        "model_path": path,
        "tokenizer_path": settings.values["tokenizer_path"] or path,
        "is_generation": True,
        "preferred_sampling_params": None,
        "weight_version": "default",
        "has_image_understanding": settings.model.multimodal,
        "has_audio_understanding": False,
        "model_type": settings.model.model_type,
        "architectures": [settings.model.architecture],
        "standin": True,
    }
    if settings.profile.weight_versions:
        info["served_model_name"] = settings.served_name
        info["reasoning_parser"] = settings.values["reasoning_parser"]
        info["tool_call_parser"] = settings.values["tool_call_parser"]
    return info


def _memory(engine: Engine) -> dict[str, Any]:
    settings = engine.settings
    return {
        "weight": round(settings.weights_gb, 2),
        "kvcache": round(settings.total_tokens / 7000, 2),
        "token_capacity": settings.total_tokens,
        "graph": 0.27 if settings.decode_graphs else 0,
    }


def server_info(engine: Engine) -> dict[str, Any]:
    """GET /server_info: the arguments, and the scheduler's state; hangs where that hangs."""
    settings, state = engine.settings, engine.state()
    values = dict(settings.values)
    if settings.profile.args_as_dict and values.get("api_key") is not None:
        values["api_key"] = "<redacted>"
    if values["speculative_algorithm"] == "NEXTN":
        values["speculative_algorithm"] = "EAGLE"
    internal = {
        **values,
        "last_gen_throughput": state["throughput"],
        "memory_usage": _memory(engine),
        "effective_max_running_requests_per_dp": settings.max_running,
    }
    if settings.speculative:
        internal["avg_spec_accept_length"] = state["accept_len"] or None
    return {
        **values,
        "served_model_name": settings.served_name,
        "max_total_num_tokens": settings.total_tokens,
        "max_req_input_len": settings.context_length - 6,
        "internal_states": [internal],
        "version": settings.profile.version,
        "standin": True,
    }


def loads(engine: Engine) -> dict[str, Any]:
    """GET /v1/loads."""
    settings, state = engine.settings, engine.state()
    memory = _memory(engine)
    usage = state["tokens"] / settings.total_tokens
    load = {
        "dp_rank": 0,
        "num_running_reqs": state["running"],
        "num_waiting_reqs": state["waiting"],
        "num_used_tokens": state["tokens"],
        "max_total_num_tokens": settings.total_tokens,
        "token_usage": usage,
        "gen_throughput": state["throughput"],
        "cache_hit_rate": 0.0,
        "utilization": 0.0,
        "max_running_requests": settings.max_running,
        "memory": {
            "weight_gb": memory["weight"],
            "kv_cache_gb": memory["kvcache"],
            "graph_gb": memory["graph"],
            "token_capacity": memory["token_capacity"],
        },
        "queues": {"waiting": state["waiting"], "grammar": 0, "paused": 0, "retracted": 0},
        "num_total_reqs": state["running"] + state["waiting"],
    }
    answer: dict[str, Any] = {
        "timestamp": dt.datetime.now(tz=dt.timezone.utc).isoformat(),
        "version": settings.profile.version,
        "dp_rank_count": 1,
        "loads": [load],
    }
    if not settings.profile.args_as_dict:
        answer["aggregate"] = {
            "total_running_reqs": state["running"],
            "total_waiting_reqs": state["waiting"],
            "total_reqs": state["running"] + state["waiting"],
            "avg_token_usage": usage,
            "avg_throughput": state["throughput"],
            "avg_utilization": 0.0,
        }
    return answer


def get_load(engine: Engine) -> list[dict[str, Any]]:
    """GET /get_load, gone in 0.5.23."""
    state = engine.state()
    load = {
        "rid": None,
        "http_worker_ipc": None,
        "dp_rank": None,
        "num_reqs": state["running"] + state["waiting"],
        "num_waiting_reqs": state["waiting"],
        "num_tokens": state["tokens"],
        "ts_tic": time.monotonic(),
    }
    return [load]


def metrics(engine: Engine) -> str:
    """GET /metrics, with --enable-metrics: the names that a watcher reads."""
    settings, state = engine.settings, engine.state()
    labels = f'model_name="{settings.served_name}"'
    if settings.profile.weight_versions:
        labels = f'engine_type="unified",{labels}'
    gauges = {
        "num_running_reqs": max(state["running"], engine.left_behind),
        "num_queue_reqs": state["waiting"],
        "num_used_tokens": state["tokens"],
        "token_usage": state["tokens"] / settings.total_tokens,
        "gen_throughput": state["throughput"],
        "spec_accept_length": state["accept_len"] if settings.speculative else 0.0,
        "max_total_num_tokens": settings.total_tokens,
        "cache_hit_rate": 0.0,
    }
    counters = {
        "prompt_tokens_total": engine.prompt_tokens,
        "generation_tokens_total": engine.generated_tokens,
        "num_requests_total": engine.finished,
    }
    lines: list[str] = []
    for kind, values in (("gauge", gauges), ("counter", counters)):
        for name, value in values.items():
            family = name[: -len("_total")] if kind == "counter" else name
            lines.append(f"# HELP sglang:{family} The stand-in's {family.replace('_', ' ')}.")
            lines.append(f"# TYPE sglang:{family} {kind}")
            lines.append(f"sglang:{name}{{{labels}}} {float(value)}")
    return "\n".join(lines) + "\n"
