"""The scripts for the host read the source without importing it, and judge by SGLang's words."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from relight.engines.sglang.build import read_build
from relight.engines.sglang.checks import checks_script, flags_script, read_checks

OLD = """
import argparse, enum, json
from sglang.srt.choices import BACKENDS, Kind
raise_on_import = 1 / 0
def more():
    '''Doc.'''
    from sglang.srt.choices import EXTRA
    return sorted(EXTRA)
class DeprecatedAction(argparse.Action):
    pass
class ServerArgs:
    tp: int = 1
    backend: str = None
    @staticmethod
    def add_cli_args(parser):
        names = ["a"] + [kind.value for kind in Kind]
        parser.add_argument("--tensor-size", "--tp-size", type=int, default=ServerArgs.tp)
        more_backends = BACKENDS + ["last"]
        parser.add_argument("--backend", choices=more_backends, default=ServerArgs.backend)
        parser.add_argument("--kind", choices=names + more())
        parser.add_argument("--on", action="store_true", help=f"Say {names}.")
        parser.add_argument("--both", action=argparse.BooleanOptionalAction, default=True)
        parser.add_argument("--many", nargs="+", type=float)
        parser.add_argument("--gone", action=DeprecatedAction)
        parser.add_argument("--data", type=json.loads, default="{}")
"""
CHOICES = """
from enum import Enum
BACKENDS = ["x", *("y", "z")]
EXTRA = {"q", "p"}
class Kind(str, Enum):
    ONE = "one"
    TWO = "two"
"""
NEW = """
from sglang.srt.arg_groups.fields import Model, Run
from sglang.srt.arg_groups.arg_utils import add_cli_args_from_dataclass
_INPUT_NAMESPACES = (Model, Run)
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        parser.add_argument("--late", type=int, default=_declared_default("size"))
"""
FIELDS = """
import dataclasses
from typing import Annotated as A, List, Literal, Optional
class Model:
    model_path: A[str, Arg(help="Where.", aliases=["--model"])]
    size: A[int, Arg("How many.", cli_name="--the-size")] = 7
    hidden: A[int, Arg(no_cli=True)] = 1
class Run:
    mode: A[Optional[Literal["a", "b"]], "How."] = None
    fast: A[bool, "Deprecated: no longer."] = False
    rates: A[Optional[List[float]], Arg(help="Some.")] = None
    rest: A[dict | None, Arg(type_parser=json_type)] = dataclasses.field(default_factory=dict)
    plain: int = 3
"""


def _package(folder: Path, files: dict[str, str]) -> Path:
    for name, source in files.items():
        path = folder / "sglang" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        (path.parent / "__init__.py").touch()
    (folder / "sglang" / "__init__.py").write_text("raise SystemExit('imported')\n")
    (folder / "sglang" / "version.py").write_text('__version__ = "0.5.99"\n')
    return folder


def _run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-"],
        input=script,
        cwd=folder,
        env={"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def _flags(folder: Path) -> dict[str, dict[str, Any]]:
    done = _run(flags_script(), folder)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["how"] == "source", answer
    assert answer["version"] == "0.5.99"
    assert read_build(done.stdout).flags
    return {flag["names"][0]: flag for flag in answer["flags"]}


def test_add_argument_calls_are_read(tmp_path: Path) -> None:
    """0.5.10 to 0.5.15: names, types, joined choices, enumerations, defaults of the class."""
    files = {"srt/server_args.py": OLD, "srt/choices.py": CHOICES}
    flags = _flags(_package(tmp_path, files))
    assert flags["--tensor-size"]["names"] == ["--tensor-size", "--tp-size"]
    assert flags["--tensor-size"]["type"] == "int"
    assert flags["--tensor-size"]["default"] == 1
    assert flags["--backend"]["choices"] == ["x", "y", "z", "last"]
    assert flags["--kind"]["choices"] == ["a", "one", "two", "p", "q"]
    assert flags["--on"]["nargs"] == 0
    assert flags["--on"]["default"] is False
    assert flags["--both"]["names"] == ["--both", "--no-both"]
    assert flags["--many"]["nargs"] == "+"
    assert flags["--gone"]["deprecated"]
    assert flags["--data"]["type"] == "loads"


def test_annotated_fields_are_read(tmp_path: Path) -> None:
    """0.5.23: `A[T, Arg(...)]` fields of the namespaces, those without a flag left out."""
    files = {"srt/server_args.py": NEW, "srt/arg_groups/fields.py": FIELDS}
    flags = _flags(_package(tmp_path, files))
    assert set(flags) == {
        "--model-path", "--the-size", "--mode", "--fast", "--rates", "--rest", "--late",
    }  # fmt: skip
    assert flags["--model-path"]["names"] == ["--model-path", "--model"]
    assert flags["--model-path"]["required"]
    assert flags["--the-size"]["dest"] == "size"
    assert flags["--mode"]["choices"] == ["a", "b"]
    assert flags["--fast"]["nargs"] == 0
    assert flags["--fast"]["deprecated"]
    assert flags["--rates"]["nargs"] == "+"
    assert flags["--rates"]["type"] == "float"
    assert flags["--rest"]["default"] == {}
    assert flags["--late"]["default"] == 7


def test_without_sglang_it_says_so(tmp_path: Path) -> None:
    """A Python that has no SGLang is told by one sentence."""
    done = _run(flags_script(), tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("sglang is not installed for ")


def test_an_unreadable_source_falls_back_to_the_parser(tmp_path: Path) -> None:
    """Where the source has another style, the real parser is asked, at the price of an import."""
    source = (
        "class Made(type):\n"
        "    def __new__(cls, n, b, d):\n"
        "        return type.__new__(cls, n, b, d)\n"
        "def _add(parser):\n    parser.add_argument('--size', type=int, default=3)\n"
        "ServerArgs = Made('ServerArgs', (), {'add_cli_args': staticmethod(_add)})\n"
    )
    _package(tmp_path, {"srt/server_args.py": source})
    (tmp_path / "sglang" / "__init__.py").write_text("")
    done = _run(flags_script(), tmp_path)
    build = read_build(done.stdout)
    assert build.how == "parser"
    assert [flag.names for flag in build.flags] == [("size",)]


@pytest.mark.parametrize("script", [flags_script(), checks_script({})])
def test_the_scripts_are_python_3_9(script: str) -> None:
    """Hosts have old Pythons: no newer syntax, and nothing of this package."""
    import ast  # noqa: PLC0415

    tree = ast.parse(script, feature_version=(3, 9))
    imported = {
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module
    }
    assert not any(name.startswith("relight") for name in imported)
    assert not any(isinstance(node, ast.Match) for node in ast.walk(tree))


CHECKS = """
import os, sys
class Args:
    def __init__(self, words):
        self.words = words
        if "--seen" in words:
            os.environ["SEEN"] = "1"
        if "--exit" in words:
            sys.stderr.write("usage: x\\nsglang serve: error: unrecognized arguments: --exit\\n")
            raise SystemExit(2)
    def {resolve}(self):
        if "--language-only" in self.words:
            raise ValueError("requires at least one encoder urls to be set via --encoder-urls")
    def check_server_args(self):
        if not any(w == "--device" for w in self.words):
            raise RuntimeError("No accelerator (CUDA, XPU) is available.")
        if "--blackwell" in self.words:
            raise ValueError("TRTLLM MHA backend is only supported on Blackwell GPUs (SM100).")
        assert "SEEN" not in os.environ or "--seen" in self.words
def prepare_server_args(words):
    args = Args(words)
    {call}
    return args
"""


@pytest.mark.parametrize(
    ("resolve", "call"), [("post_init", "args.post_init()"), ("resolve_once", "pass")]
)
def test_checks_judge_each_candidate_by_itself(tmp_path: Path, resolve: str, call: str) -> None:
    """Both ways of checking (at parse, and by resolve_once) are followed, candidates apart."""
    source = CHECKS.replace("{resolve}", resolve).replace("{call}", call)
    _package(tmp_path, {"srt/server_args.py": source})
    (tmp_path / "sglang" / "__init__.py").write_text("")
    base = ("--model-path", 'it\'s a "path"\n$(x)')
    done = _run(
        checks_script(
            {
                "base": base,
                "base+seen": (*base, "--seen"),
                "base+after": base,
                "base+language": (*base, "--language-only"),
                "base+exit": (*base, "--exit"),
                "base+gpu": (*base, "--blackwell"),
            }
        ),
        tmp_path,
    )
    verdicts = {one.name: one for one in read_checks(done.stdout)}
    assert [name for name, one in verdicts.items() if one.ok] == ["base", "base+seen", "base+after"]
    assert "--encoder-urls" in verdicts["base+language"].message
    assert verdicts["base+language"].where.startswith("srt/server_args.py:")
    assert not verdicts["base+language"].uncertain
    assert verdicts["base+exit"].message.endswith("unrecognized arguments: --exit")
    assert verdicts["base+gpu"].uncertain


@pytest.mark.parametrize(
    "answer", ["", "x", "[]", '{"gpu": 1}', '{"gpu": 1, "verdicts": {"a": 1}}']
)
def test_verdicts_that_are_none_are_refused(answer: str) -> None:
    """What a host sends instead of verdicts is a ValueError."""
    with pytest.raises(ValueError, match="verdicts"):
        read_checks(answer)
