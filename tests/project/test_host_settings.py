"""`relight_*` variables come to a HostSpec, or are refused in words."""

from __future__ import annotations

import pytest

from relight.core.service import HostSpec
from relight.errors import Fault
from relight.project.host_settings import named_presets, spec
from relight.project.rendering import Rendered
from relight.project.variables import Variable, of_document
from relight.project.yaml import parse

ENGINE = "relight_engine: {python: python3}\n"


def settled(text: str) -> tuple[HostSpec | None, tuple[Fault, ...]]:
    """Return what a host with these variables comes to."""
    document = parse(text, "h.yml")
    variables, _ = of_document(document)
    host = Variable("box", document, ())
    return spec(host, Rendered(variables), ("process", "systemd"))


def test_a_host_with_everything() -> None:
    """Services bind presets, ports and GPUs; templates are rendered."""
    found, faults = settled(
        "base: 30000\n"
        "home: /opt/sglang\n"
        "relight_engine: {python: '{{ home }}/bin/python', model_root: /srv}\n"
        "relight_launcher: systemd\n"
        "relight_gpus: [{name: A6000, count: 2, memory_gb: 48}]\n"
        "relight_services:\n"
        "  one: {preset: a, port: '{{ base + 1 }}', gpus: [0]}\n"
        "  two: {preset: b, port: 0, gpus: [1]}\n"
    )
    assert faults == ()
    assert found is not None
    assert found.engine.python == "/opt/sglang/bin/python"
    assert found.services["one"].port == 30001
    assert found.services["two"].gpus == (1,)


CASES = [
    ("x: 1\nrelight_home: ~/../x\nrelight_lancher: a", 4, 1, "did you mean relight_launcher?"),
    ("relight_servces: {}", 2, 1, "did you mean relight_services?"),
    ("relight_launcher: proces", 2, 19, "there is no launcher 'proces'; did you mean process?"),
    ("relight_home: relative/path", 2, 15, "begin it with / or ~/"),
    ("relight_services: [main]", 2, 19, "relight_services wants a mapping, got a list"),
    ("relight_services: {main: {preset: p}}", 2, 19, "'port' is missing in main"),
    ("relight_services: {main: {preset: p, port: 0, gpu: [0]}}", 2, 47, "did you mean gpus?"),
    ("relight_services: {main: {preset: p, port: abc}}", 2, 44, "port wants a whole number"),
    ("relight_services: {main: {preset: p, port: yes}}", 2, 44, "port wants a number, got true"),
    ("relight_services: {Main: {preset: p, port: 1}}", 2, 20, "'Main' is no name here"),
    ("relight_services: {a: {preset: p, port: 010}}", 2, 41, "read as octal: 8"),
    ("relight_services: {a: {preset: p, port: '{{ x }}'}}", 2, 41, "'x' is undefined"),
    ("relight_services: {a: {preset: p, port: 1, gpus: [0, 0]}}", 2, 54, "stands here twice"),
    ("relight_services: {a: {preset: p, port: 1}, b: {preset: p, port: 1}}", 2, 48, "which a has"),
]


@pytest.mark.parametrize(("line", "row", "column", "words"), CASES)
def test_one_mistake_is_one_fault(line: str, row: int, column: int, words: str) -> None:
    """At the place inside of the variable."""
    found, faults = settled(f"{ENGINE}{line}\n")
    (fault,) = faults
    assert found is None
    assert (fault.line, words in str(fault)) == (row, True), str(fault)
    assert "missing" in words or fault.column == column


def test_two_services_cannot_share_a_gpu() -> None:
    """And a GPU must be one that the host has."""
    _, faults = settled(
        f"{ENGINE}"
        "relight_gpus: [{name: A, count: 2, memory_gb: 48}]\n"
        "relight_services:\n"
        "  a: {preset: p, port: 1, gpus: [0, 1]}\n"
        "  b: {preset: p, port: 2, gpus: [1, 2]}\n"
    )
    shared, absent = sorted(faults)
    assert [(f.line, f.column) for f in (shared, absent)] == [(5, 6), (5, 37)]
    assert "GPU 1, which a has already" in shared.what
    assert "there is no GPU 2" in absent.what


def test_a_secret_of_the_engine_is_refused_and_not_shown() -> None:
    """Secrets belong into the preset, by reference."""
    _, faults = settled("relight_engine: {python: p, env: {HF_TOKEN: hunter2, A: b}}\n")
    (fault,) = faults
    assert (fault.line, fault.column) == (1, 45)
    assert "hunter2" not in str(fault)


def test_an_engine_must_be_said() -> None:
    """With the line to write."""
    _, faults = settled("relight_launcher: process\n")
    (fault,) = faults
    assert "relight_engine is missing on box" in fault.what
    assert "relight_engine: {python" in fault.right


def test_presets_are_known_even_where_a_port_is_wrong() -> None:
    """So that a misspelt preset shows in the same run."""
    document = parse("relight_services: {a: {preset: p, port: x}, b: {preset: '{{ n }}'}}\n", "h")
    variables, _ = of_document(document)
    assert named_presets(Rendered(variables)) == (("a", "p"),)
