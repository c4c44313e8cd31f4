"""The launch's words, the version's script, and the names of flags."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from relight.core.engine import EngineSpec, ServerRequest
from relight.core.flags import Flags
from relight.engines import load
from relight.engines.sglang import ENGINE


def _request(spec: EngineSpec, model: str = "/m", flags: Flags | None = None) -> ServerRequest:
    return ServerRequest(spec=spec, model=model, served_name="qwen", port=30000, flags=flags or {})


def test_it_is_found_by_its_name() -> None:
    """Presets ask for `sglang`."""
    assert load("sglang") is ENGINE


def test_a_python_runs_the_module() -> None:
    """Without a command, the engine's Python runs SGLang's server with the flags in order."""
    spec = EngineSpec(python="/opt/sglang/bin/python")
    words = ENGINE.command(_request(spec, flags={"tp-size": 2, "enable-metrics": True}))
    assert words == (
        "/opt/sglang/bin/python", "-m", "sglang.launch_server", "--model-path", "/m",
        "--served-model-name", "qwen", "--port", "30000", "--tp-size", "2", "--enable-metrics",
    )  # fmt: skip


def test_a_command_gets_the_same_flags() -> None:
    """A host's own command stands before them."""
    words = ENGINE.command(_request(EngineSpec(command=("sglang", "serve"))))
    assert words[:3] == ("sglang", "serve", "--model-path")
    assert words[2:] == ENGINE.arguments(_request(EngineSpec(python="p")))


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("Qwen/Qwen3-4B", "/models/Qwen/Qwen3-4B"),
        ("/abs/model", "/abs/model"),
        ("s3://bucket/model", "s3://bucket/model"),
    ],
)
def test_a_relative_model_lies_under_the_root(model: str, found: str) -> None:
    """`model_root` is put before relative models only."""
    spec = EngineSpec(python="p", model_root="/models/")
    assert ENGINE.command(_request(spec, model))[4] == found


def test_a_value_cannot_become_an_option() -> None:
    """Names that begin with a dash stay values."""
    words = ENGINE.command(_request(EngineSpec(python="p"), model="--trust-remote-code"))
    assert "--trust-remote-code" not in words
    assert "--model-path=--trust-remote-code" in words


def _package(folder: Path, version: str) -> None:
    (folder / "sglang").mkdir()
    (folder / "sglang" / "__init__.py").write_text("raise SystemExit('imported')\n")
    (folder / "sglang" / "version.py").write_text(f'__version__ = "{version}"\n')


def test_the_version_is_read_without_an_import(tmp_path: Path) -> None:
    """The script prints a source tree's version, and says so where there is no SGLang."""
    _package(tmp_path, "0.5.15")
    script = ENGINE.version_script(EngineSpec(python=sys.executable))
    env = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["sh"], input=script, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "0.5.15\n"
    none = subprocess.run(
        ["sh"], input=script, env={"PATH": env["PATH"]}, capture_output=True, text=True, check=False
    )
    assert none.returncode == 1
    assert "not installed" in none.stderr


def test_a_commands_python_is_found_in_its_first_line(tmp_path: Path) -> None:
    """A script such as pip's `sglang` names its Python; a program that names none is told."""
    _package(tmp_path, "0.5.23")
    program = tmp_path / "sglang-it"
    program.write_text(f"#!{sys.executable}\n")
    program.chmod(0o755)
    env = {"PYTHONPATH": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    script = ENGINE.version_script(EngineSpec(command=("sglang-it", "serve")))
    done = subprocess.run(["sh"], input=script, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "0.5.23\n"
    for command in (("no-such-program",), ("sh",)):
        script = ENGINE.version_script(EngineSpec(command=command))
        failed = subprocess.run(
            ["sh"], input=script, env=env, capture_output=True, text=True, check=False
        )
        assert failed.returncode in {126, 127}
        assert command[0] in failed.stderr


def test_the_scripts_are_clean_shell() -> None:
    """A shell checker finds nothing in them."""
    for spec in (EngineSpec(python="/p/python3"), EngineSpec(command=("sglang", "serve"))):
        script = ENGINE.version_script(spec)
        done = subprocess.run(
            [str(Path(sys.executable).parent / "shellcheck"), "--shell=sh", "-"],
            input=script,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == ""


def test_aliases_have_one_name() -> None:
    """Every spelling of a flag is one flag; what is protected is so under each of them."""
    assert {ENGINE.canonical(name) for name in ("tp", "tp-size", "tensor-parallel-size")} == {
        "tp-size"
    }
    assert ENGINE.canonical("mem_fraction_static") == "mem-fraction-static"
    assert {"tp", "tp-size", "tensor-parallel-size", "api-key"} <= ENGINE.protected
    assert "mem-fraction-static" not in ENGINE.protected
    assert ENGINE.reserved["port"]
