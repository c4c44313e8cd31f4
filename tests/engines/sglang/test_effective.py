"""Requested, resolved and effective: what was asked and got, lost, and changed unasked."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from relight.core.flags import Flags
from relight.engines.sglang import ENGINE
from relight.engines.sglang.build import read_build
from relight.engines.sglang.effective import explain, kept_info
from tests.engines.sglang.recorded import DATA, read

SPECULATIVE: Flags = {
    "mem-fraction-static": 0.88,
    "context-length": 131072,
    "max-running-requests": 16,
    "speculative-algorithm": "NEXTN",
    "mamba-scheduler-strategy": "extra_buffer",
    "enable-single-batch-overlap": True,
    "api-key": "s3cret",
}


def _rules(found: tuple[object, ...]) -> dict[str, str]:
    return {one.flag: one.rule for one in found}  # type: ignore[attr-defined]


def test_a_real_launch_is_explained_by_its_log() -> None:
    """0.5.12 on a GPU: what was kept, what does nothing here, what SGLang changed by itself."""
    reading = read((DATA / "healthy" / "0.5.12-h200-speculative.log").read_bytes())
    build = read_build((DATA / "build-0.5.12.json").read_text().replace("\n", ""))
    told = ENGINE.explain(SPECULATIVE, {}, reading, build, 9.0)
    assert {one.flag for one in told.kept} == set(SPECULATIVE) - {
        "api-key", "enable-single-batch-overlap",
    }  # fmt: skip
    assert _rules(told.kept)["speculative-algorithm"] == "spec.nextn"
    assert _rules(told.lost) == {"enable-single-batch-overlap": "overlap.moe_only"}
    changed = _rules(told.changed)
    assert changed["disable-piecewise-cuda-graph"] == "prefill_graph.off"
    assert changed["attention-backend"] == "default.backend"
    assert "s3cret" not in told.model_dump_json()


@pytest.mark.parametrize("version", ["0.5.10", "0.5.23"])
def test_the_arguments_of_each_version_are_compared(version: str) -> None:
    """The dataclass line and the mapping line give the same groups."""
    reading = read((DATA / "healthy" / f"{version}-cpu-launch.log").read_bytes())
    told = ENGINE.explain({"context-length": 2048, "max-total-tokens": 1}, {}, reading)
    assert [one.flag for one in told.kept] == ["context-length"]
    assert [(one.flag, one.resolved) for one in told.lost] == [("max-total-tokens", 8192)]


def test_a_renamed_flag_is_found_under_its_other_name() -> None:
    """0.5.15 shows --cuda-graph-max-bs under its new name."""
    info: dict[str, JsonValue] = {"cuda_graph_max_bs_decode": 16}
    told = explain({"cuda-graph-max-bs": 16}, {**info, "tp_size": 2}, {})
    assert [one.flag for one in told.kept] == ["cuda-graph-max-bs"] or told.lost == ()


@pytest.mark.parametrize(
    ("flags", "facts", "state", "rule"),
    [
        (
            {"max-running-requests": 16},
            {"mamba_slots": 30},
            {"effective_max_running_requests_per_dp": 10},
            "running.cut",
        ),
        ({"enable-nccl-nvls": True}, {}, {}, "sm90.needed"),
        ({"enforce-piecewise-cuda-graph": True}, {"prefill_graph_off": "multimodal"}, {},
         "prefill_graph.off"),
        ({"num-continuous-decode-steps": 4}, {}, {}, "flag.dead"),
    ],
)  # fmt: skip
def test_known_losses_have_their_rule(
    flags: Flags, facts: dict[str, str | int], state: dict[str, JsonValue], rule: str
) -> None:
    """What SGLang silently does not do is told with why."""
    info: dict[str, JsonValue] = {
        name.replace("-", "_"): value  # type: ignore[misc]
        for name, value in flags.items()
    }
    told = explain(flags, {**info, "internal_states": [state]}, facts, sm=8.6)
    assert [one.rule for one in told.lost] == [rule]
    assert told.lost[0].why


def test_custom_all_reduce_without_peer_access_is_a_change() -> None:
    """The argument still says enabled; the log says that it is off."""
    reading = read((DATA / "healthy" / "0.5.15-gpu-made-from-its-formats.log").read_bytes())
    told = ENGINE.explain({}, {}, reading)
    assert _rules(told.changed)["disable-custom-all-reduce"] == "all_reduce.off"


def test_no_secret_is_kept() -> None:
    """An allow-list: keys, passwords and unknown fields are not stored, whatever they hold."""
    info: dict[str, JsonValue] = {
        "api_key": "s3cret",
        "admin_api_key": "s3cret",
        "ssl_keyfile_password": "s3cret",
        "made_up": "s3cret",
        "tp_size": 2,
        "max_running_requests": 16,
        "version": "0.5.12",
        "internal_states": [{"memory_usage": {"weight": 1.0}, "secret": "s3cret"}],
    }
    kept = kept_info(info, {"api-key": "s3cret", "tp-size": 2})
    assert "s3cret" not in json.dumps(kept)
    assert kept["tp_size"] == 2
    assert kept["internal_states"] == [{"memory_usage": {"weight": 1.0}}]
