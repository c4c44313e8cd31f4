"""Flags are checked against the flag set of the installed build, both ways in time."""

from __future__ import annotations

import pytest

from relight.core.build import Build
from relight.core.flags import Flags, FlagValue
from relight.engines.sglang.build import check_flags, read_build, respelled
from tests.engines.sglang.recorded import DATA

VERSIONS = ("0.5.10", "0.5.12", "0.5.15", "0.5.23")


def _build(version: str) -> Build:
    return read_build((DATA / f"build-{version}.json").read_text().replace("\n", ""))


BUILDS = {version: _build(version) for version in VERSIONS}


def _kinds(flags: Flags, version: str) -> dict[str, str]:
    return {fault.flag: fault.kind for fault in check_flags(flags, BUILDS[version])}


@pytest.mark.parametrize("version", VERSIONS)
def test_good_flags_have_no_fault(version: str) -> None:
    """Flags that every version has, with values that it takes, pass."""
    flags: Flags = {
        "tp-size": 2,
        "tensor-parallel-size": 2,
        "mem-fraction-static": 0.88,
        "enable-metrics": True,
        "disable-radix-cache": False,
        "attention-backend": "triton",
        "context-length": "128k",
        "lora-paths": ("a=b", "c=d"),
        "chunked-prefill-size": -1,
        "json-model-override-args": "{}",
    }
    assert check_flags(flags, BUILDS[version]) == ()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("no-such-flag", True, "unknown"),
        ("mem-frac", 0.8, "abbreviated"),
        ("tp", 2, "abbreviated"),
        ("speculative-num", 3, "ambiguous"),
        ("tool-call-parser", "qwen3coder", "choice"),
        ("mem-fraction-static", "much", "type"),
        ("tp-size", 1.5, "type"),
        ("enable-metrics", 1, "type"),
        ("tp-size", True, "type"),
        ("tp-size", (1, 2), "type"),
        ("max-model-len", 4096, "renamed"),
        ("enable-reasoning", True, "unknown"),
    ],
)
def test_each_mistake_is_told(version: str, name: str, value: FlagValue, kind: str) -> None:
    """What the parser would refuse, or take for something else, is told by its kind."""
    assert _kinds({name: value}, version) == {name: kind}


def test_renamed_flags_are_told_in_both_directions() -> None:
    """An old name on a new build and a new name on an old build both get what to write."""
    (newer,) = check_flags({"cuda-graph-max-bs": 16}, BUILDS["0.5.23"])
    assert newer.kind == "renamed"
    assert newer.set == {"cuda-graph-max-bs-decode": 16}
    assert "--cuda-graph-max-bs-decode 16" in newer.message
    (older,) = check_flags({"cuda-graph-max-bs-decode": 16}, BUILDS["0.5.12"])
    assert older.set == {"cuda-graph-max-bs": 16}
    (switch,) = check_flags({"disable-piecewise-cuda-graph": True}, BUILDS["0.5.23"])
    assert switch.set == {"cuda-graph-backend-prefill": "disabled"}
    (back,) = check_flags({"cuda-graph-backend-prefill": "disabled"}, BUILDS["0.5.10"])
    assert back.set == {"disable-piecewise-cuda-graph": True}


def test_deprecated_flags_are_a_warning() -> None:
    """0.5.15 still takes the old names: said, not refused."""
    faults = check_flags(
        {"cuda-graph-max-bs": 16, "mamba-scheduler-strategy": "extra_buffer"}, BUILDS["0.5.15"]
    )
    assert [fault.kind for fault in faults] == ["deprecated", "deprecated"]
    assert all(fault.warning for fault in faults)
    assert "--cuda-graph-max-bs-decode" in faults[0].message


def test_a_close_name_is_offered() -> None:
    """Did you mean: flags and choices."""
    (fault,) = check_flags({"enable-metrixs": True}, BUILDS["0.5.12"])
    assert "enable-metrics" in fault.message
    (choice,) = check_flags({"tool-call-parser": "qwen3coder"}, BUILDS["0.5.12"])
    assert choice.set == {"tool-call-parser": "qwen3_coder"}


def test_all_faults_are_told_at_once_and_no_secret() -> None:
    """One pass tells everything, and never shows a key."""
    flags: Flags = {"nope": 1, "mem-fraction-static": "x", "api-key": ("s3cret", "two")}
    faults = check_flags(flags, BUILDS["0.5.12"])
    assert len(faults) == 3
    assert "s3cret" not in "".join(fault.message for fault in faults)


def test_flags_are_respelled_for_a_build() -> None:
    """A remedy's flags find their name in the build at hand."""
    flags: Flags = {"disable-piecewise-cuda-graph": True, "tp-size": 2, "nope": 1}
    assert respelled(flags, BUILDS["0.5.12"]) == flags
    assert respelled(flags, BUILDS["0.5.23"]) == {
        "cuda-graph-backend-prefill": "disabled",
        "tp-size": 2,
        "nope": 1,
    }


@pytest.mark.parametrize("answer", ["", "no json", "[]", '{"flags": 3}', "[" * 100_000])
def test_an_answer_that_is_none_is_refused(answer: str) -> None:
    """What a host sends instead of a flag set is a ValueError, not a crash."""
    with pytest.raises(ValueError, match="host"):
        read_build(answer)
