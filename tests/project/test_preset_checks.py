"""What holds between a preset, its engine and its service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from relight.core.service import Service
from relight.errors import Fault
from relight.project.files import Files
from relight.project.preset_files import PresetFile, find
from relight.project.rendering import Rendered
from relight.project.variables import of_document
from relight.project.yaml import parse

Lay = Callable[[Mapping[str, str]], Path]
HEAD = "model: m\nserved_name: s\n"


@pytest.fixture
def preset(lay: Lay) -> Callable[[str], tuple[PresetFile, list[Fault]]]:
    """Return what reads a preset of these lines."""

    def read(lines: str) -> tuple[PresetFile, list[Fault]]:
        root = lay({"presets/p.yml": HEAD + lines})
        files = Files()
        return find([root / "presets"], files)["p"], sorted(files.faults)

    return read


Read = Callable[[str], tuple[PresetFile, list[Fault]]]

CASES = [
    ("engine: sglan", 3, 9, "there is no engine 'sglan'; did you mean sglang?"),
    ("flags: {port: 1}", 3, 9, "write it as the port of the service"),
    ("flags: {model-path: x}", 3, 9, "write it as the model"),
    ("flags: {served-model-name: x}", 3, 9, "write it as the served_name"),
    ("layers: {x: {flags: {port: 1}}}", 3, 22, "write it as the port"),
    ("flags: {tp: 2, tp-size: 2}", 3, 16, "tp-size and tp are one flag"),
    ("layers: {x: {flags: {context-length: 5}}}", 3, 22, "must not be dropped"),
    ("layers: {x: {flags: {tool-call-parser: q}}}", 3, 22, "move it under flags"),
    ("flags: {tp: 2}\nfallbacks: [{on: unknown, drop: [tp]}]", 4, 34, "must not touch tp"),
    ("fallbacks: [{on: unknown, set: {quantization: fp8}}]", 3, 33, "must not touch quantization"),
    ("flags: {a: 1}\nfallbacks: [{on: unknown, drop: [b]}]", 4, 34, "has nowhere"),
    ("fallbacks: [{on: unknown, adjust: {a: {by: 1, to: 2}}}]", 3, 36, "no value in flags"),
    ("env: {HF_TOKEN: abc}", 3, 17, "HF_TOKEN: {env: HF_TOKEN}"),
    ("env: {A-B: abc}", 3, 7, "not the name of an environment variable"),
    ("attempts: 010", 3, 11, "read as octal: 8"),
]


@pytest.mark.parametrize(("lines", "row", "column", "words"), CASES)
def test_one_mistake_is_one_fault(
    lines: str, row: int, column: int, words: str, preset: Read
) -> None:
    """At the flag, layer, fallback or variable that is wrong."""
    _, faults = preset(lines + "\n")
    (fault,) = faults
    assert (fault.line, fault.column) == (row, column)
    assert words in str(fault)


def test_a_secret_in_a_preset_is_refused_beside_other_faults_and_not_shown(preset: Read) -> None:
    """Its value must not reach a terminal or a log."""
    _, faults = preset("env: {API_KEY: hunter2}\nattempts: x\n")
    assert [fault.line for fault in faults] == [3, 4]
    assert "hunter2" not in "".join(map(str, faults))


def test_templates_are_filled_on_a_host(preset: Read) -> None:
    """In any field, also one that wants a number; the preset as written leaves that out."""
    file, faults = preset('attempts: "{{ n }}"\nflags: {mem-fraction-static: "{{ share }}"}\n')
    assert faults == []
    assert file.preset is not None
    assert file.preset.attempts == 6
    variables, _ = of_document(parse("n: 3\nshare: 0.8\n", "v.yml"))
    filled, wrong = file.on(Rendered(variables))
    assert wrong == ()
    assert filled is not None
    assert (filled.attempts, filled.flags) == (3, {"mem-fraction-static": 0.8})


def test_a_template_that_comes_to_the_wrong_type_is_a_fault(preset: Read) -> None:
    """At the template."""
    file, _ = preset('attempts: "{{ n }}"\nflags: {"a": "{{ nowhere }}"}\n')
    variables, _ = of_document(parse("n: many\n", "v.yml"))
    filled, wrong = file.on(Rendered(variables))
    assert filled is None
    assert [(f.line, f.column) for f in sorted(wrong)] == [(3, 11), (4, 14)]


@pytest.mark.parametrize(
    ("flags", "gpus", "words"),
    [
        ("tp-size: 2", (0, 1), None),
        ("tp: 2", (0,), "runs on 2 GPU(s) (tp), but the service x has 1"),
        ("tp-size: 1", (0, 1), "runs on 1 GPU(s)"),
        ("a: 1", (0, 1), "runs on 1 GPU(s), as no tp-size says otherwise"),
        ("tp-size: 2, pp-size: 2", (0, 1, 2, 3), None),
        ("tp-size: 2, dp-size: 2", (0, 1), "runs on 4 GPU(s)"),
        ("tp-size: 2, dp-size: 2, enable-dp-attention: true", (0, 1), None),
        ("tp-size: 8, nnodes: 2", (0, 1), None),
        ("tp-size: 2", (), None),
    ],
)
def test_the_gpus_of_a_service_are_those_that_the_flags_use(
    flags: str, gpus: tuple[int, ...], words: str | None, preset: Read
) -> None:
    """Tensor x pipeline x data parallel; a service without GPUs leaves them to the engine."""
    file, faults = preset(f"flags: {{{flags}}}\n")
    assert faults == []
    assert file.preset is not None
    service = Service(preset="p", port=1, gpus=gpus)
    fault = file.gpu_fault(file.preset, service, "the service x")
    assert (fault is None) if words is None else (fault is not None and words in fault.what)


def test_a_name_that_comes_twice_is_a_fault(lay: Lay) -> None:
    """One of two files of a name would be ignored."""
    root = lay({"one/p.yml": HEAD, "two/p.yaml": HEAD})
    files = Files()
    find([root / "one", root / "two"], files)
    (fault,) = files.faults
    assert "stands in one/p.yml too" in fault.what
