"""The command line: SGLang's flags of each version, its parse errors and its checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.standin.rig import run

OLD, NEW = "0.5.10", "0.5.23"
MODEL = ("--model-path", "standin/tiny")
HYBRID = ("--model-path", "standin/qwen3.6-27b")
NEXTN = ("--speculative-algorithm", "NEXTN")


def flags(pyz: Path, version: str) -> dict[str, dict[str, Any]]:
    """The listed flags by name."""
    listed = json.loads(run(pyz, "--print-flags", sglang_version=version).stdout)
    return {flag["name"]: flag for flag in listed}


def test_the_version_is_chosen_by_the_environment(pyz: Path) -> None:
    """The version line is the one asked for; one that is not known is said so."""
    assert run(pyz, "--print-version").stdout == "0.5.10\n"
    assert run(pyz, "--print-version", sglang_version=NEW).stdout == "0.5.23\n"
    unknown = run(pyz, "--print-version", sglang_version="0.4")
    assert unknown.returncode == 2
    assert "0.5.10, 0.5.23" in unknown.stderr


def test_a_flag_is_listed_with_everything_that_a_preflight_needs(pyz: Path) -> None:
    """Name, other spellings, type, choices, default, deprecation."""
    old = flags(pyz, OLD)
    assert old["--tp-size"] == {
        "name": "--tp-size",
        "aliases": ["--tensor-parallel-size"],
        "type": "int",
        "choices": None,
        "default": "1",
        "deprecated": False,
    }
    assert old["--model-path"]["aliases"] == ["--model"]
    assert "qwen3" in old["--reasoning-parser"]["choices"]
    assert old["--mem-fraction-static"]["type"] == "float"
    assert old["--language-only"]["type"] == "bool"
    assert old["--enable-piecewise-cuda-graph"]["deprecated"]


def test_renamed_flags_are_each_in_their_own_version(pyz: Path) -> None:
    """0.5.23 took flags away and brought others."""
    old, new = flags(pyz, OLD), flags(pyz, NEW)
    gone = {"--enforce-piecewise-cuda-graph", "--mamba-scheduler-strategy", "--cuda-graph-max-bs"}
    come = {
        "--mamba-radix-cache-strategy",
        "--cuda-graph-max-bs-decode",
        "--cuda-graph-backend-prefill",
    }
    assert gone <= old.keys() - new.keys()
    assert come <= new.keys() - old.keys()


@pytest.mark.parametrize(
    ("version", "arguments", "error"),
    [
        (OLD, ("--no-such-flag",), "unrecognized arguments: --no-such-flag"),
        (NEW, ("--enforce-piecewise-cuda-graph",), "unrecognized arguments: --enforce-piecewise"),
        (NEW, ("--cuda-graph-max-bs", "16"), "ambiguous option: --cuda-graph-max-bs could match"),
        (OLD, ("--attention-backend", "nonesuch"), "argument --attention-backend: invalid choice"),
        (OLD, ("--port", "many"), "argument --port: invalid int value: 'many'"),
    ],
)
def test_a_wrong_argument_ends_with_usage_and_two(
    pyz: Path, version: str, arguments: tuple[str, ...], error: str
) -> None:
    """As argparse does in SGLang: usage, then the error under the program name sglang serve."""
    for mode in ((), ("--check-args",)):
        result = run(pyz, *mode, *MODEL, *arguments, sglang_version=version)
        assert result.returncode == 2
        assert result.stderr.startswith("usage: sglang serve [-h] --model-path MODEL_PATH")
        assert f"sglang serve: error: {error}" in result.stderr


def test_an_abbreviation_is_accepted(pyz: Path) -> None:
    """`--tp` is no flag, but an unambiguous beginning of one."""
    assert run(pyz, "--check-args", *MODEL, "--tp", "2", "--mem-frac", "0.8").returncode == 0


@pytest.mark.parametrize(
    ("version", "arguments", "error"),
    [
        (
            OLD,
            (*MODEL, "--language-only"),
            "ValueError: requires at least one encoder urls to be set via --encoder-urls",
        ),
        (
            NEW,
            (*MODEL, "--language-only"),
            "ValueError: Model type Qwen3ForCausalLM is not supported for encoder disaggregation.",
        ),
        (
            OLD,
            ("--model-path", "/nonexistent/model"),
            "OSError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/nonexist",
        ),
        (
            OLD,
            (*HYBRID, *NEXTN),
            "is not compatible with radix cache when using --mamba-scheduler-strategy no_buffer.To",
        ),
        (OLD, (*MODEL, "--context-length", "99999"), "ValueError: Warning: User-specified"),
        (
            OLD,
            (*MODEL, "--attention-backend", "trtllm_mha"),
            "ValueError: TRTLLM MHA backend is only supported on Blackwell GPUs (SM100).",
        ),
    ],
)
def test_a_refused_combination_ends_with_a_traceback_and_one(
    pyz: Path, version: str, arguments: tuple[str, ...], error: str
) -> None:
    """Check and start refuse alike, in SGLang's words."""
    for mode in ((), ("--check-args",)):
        result = run(pyz, *mode, *arguments, sglang_version=version)
        assert result.returncode == 1
        assert "Traceback (most recent call last):" in result.stderr
        assert error in result.stderr


@pytest.mark.parametrize(
    ("version", "arguments"),
    [
        (OLD, MODEL),
        (OLD, ("--model", "standin")),
        (OLD, (*MODEL, "--language-only", "--encoder-urls", "http://127.0.0.1:1")),
        (NEW, (*HYBRID, "--language-only")),
        (OLD, (*HYBRID, *NEXTN, "--mamba-scheduler-strategy", "extra_buffer")),
        (NEW, (*HYBRID, *NEXTN)),
        # Accepted by SGLang's checks, and wrong all the same.
        (OLD, (*MODEL, "--tp-size", "3", "--mem-fraction-static", "1.5", "--nnodes", "2")),
    ],
)
def test_what_the_checks_accept_is_accepted(
    pyz: Path, version: str, arguments: tuple[str, ...]
) -> None:
    """Nothing is printed and the code is 0."""
    result = run(pyz, "--check-args", *arguments, sglang_version=version)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_model_folder_gives_its_own_facts(pyz: Path, tmp_path: Path) -> None:
    """config.json's context length bounds --context-length; a folder without one is refused."""
    arguments = ("--check-args", "--model-path", str(tmp_path))
    assert "does not appear to have a file named config.json" in run(pyz, *arguments).stderr
    config = {"architectures": ["Qwen3ForCausalLM"], "max_position_embeddings": 512}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert run(pyz, *arguments, "--context-length", "512").returncode == 0
    refused = run(pyz, *arguments, "--context-length", "513")
    assert "derived context_length (512)" in refused.stderr


@pytest.mark.parametrize("version", [OLD, NEW])
def test_flags_come_from_a_config_file_too(pyz: Path, tmp_path: Path, version: str) -> None:
    """As in SGLang a file's flags go first, and a wrong one is a parse error like any other."""
    file = tmp_path / "flags.yaml"
    file.write_text('{"api-key": "k", "tp-size": 2, "trust-remote-code": true}')
    check = ("--check-args", *MODEL, "--config", str(file))
    assert run(pyz, *check, sglang_version=version).returncode == 0
    file.write_text('{"no-such-flag": "k"}')
    refused = run(pyz, *check, sglang_version=version)
    assert refused.returncode == 2
    assert "unrecognized arguments: --no-such-flag" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--config",), "No config file specified after --config flag!"),
        (("--config", "flags.json"), "Config file must be YAML format, got: .json"),
        (("--config", "a.yml", "--config", "b.yml"), "Multiple config files specified!"),
    ],
)
def test_a_config_file_that_sglang_refuses(pyz: Path, words: tuple[str, ...], said: str) -> None:
    """Its exit code and its words (server_args_config_parser.py)."""
    ended = run(pyz, "--check-args", *MODEL, *words)
    assert ended.returncode == 1
    assert said in ended.stderr
