"""What pydantic finds becomes faults in plain words at the right places."""

from __future__ import annotations

import textwrap

import pytest

from relight.core.model import Frozen
from relight.core.preset import Preset
from relight.errors import Fault
from relight.project.validation import read
from relight.project.yaml import parse


def faults(text: str, model: type[Frozen] = Preset) -> tuple[Fault, ...]:
    """Return what is said against a preset, by place."""
    document = parse(textwrap.dedent(text), "p.yml")
    result, found = read(model, document.data, document)
    assert (result is None) == bool(found)
    return tuple(sorted(found))


HEAD = "model: m\nserved_name: s\n"
CASES = [
    ("attempts: abc", 3, 11, "attempts wants a whole number, got 'abc'"),
    ("attempts: 1.5", 3, 11, "attempts wants a whole number, got the number 1.5"),
    ("attempts: yes", 3, 11, "attempts wants a number, got true"),
    ("attempts: 99", 3, 11, "attempts wants a number of at most 50, got the number 99"),
    ("attempts:", 3, 1, "attempts wants a whole number, got nothing; give it a value"),
    ("description: 5", 3, 14, "description wants text, got the number 5; put it in quotes"),
    ("promote_degraded: maybe", 3, 19, "promote_degraded wants true or false, got 'maybe'"),
    ("flags: [a]", 3, 8, "flags wants a mapping, got a list"),
    ("fallbacks: {a: 1}", 3, 12, "fallbacks wants a list, got a mapping"),
    ("readyness: {}", 3, 1, "unknown key 'readyness'; did you mean readiness?"),
    ("readiness: {witin: 3}", 3, 13, "unknown key 'witin' in readiness; did you mean within?"),
    ("max_downtime: soon", 3, 15, "'soon' is not a duration"),
    ("engine_version: new", 3, 17, "'new' is no version range"),
    ("flags: {--tp: 2}", 3, 9, "'--tp' is not a flag name"),
    ("flags: {a: {b: 1}}", 3, 12, "a wants true or false, a whole number, a number, text"),
    ("flags: {a: [1, {b: 1}]}", 3, 16, "item 2 of a wants"),
    ("layers: {x: {flag: {}}}", 3, 14, "unknown key 'flag' in x; did you mean flags?"),
    ("layers: {x: {}}", 3, 10, "'flags' is missing in x"),
    ("fallbacks: [{on: oom_pol, drop: [a]}]", 3, 18, "knows no 'oom_pol'; did you mean oom_pool?"),
    ("fallbacks: [{on: unknown}]", 3, 13, "a fallback changes something"),
    ("env: {A: {envv: B}}", 3, 11, "unknown key 'envv' in A; did you mean env?"),
    ("env: {A: {env: B, file: c}}", 3, 10, "exactly one of env, file, command"),
    ("env: {A: 5}", 3, 10, "A wants text or a mapping, got the number 5"),
    ("benchmark: {on_worse: rolback}", 3, 23, "'rollback' or 'keep', got 'rolback'; did you mean"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "row", "column", "words"), CASES)
def test_one_mistake_is_one_fault(line: str, row: int, column: int, words: str) -> None:
    """The fault says what was wanted, what was got and, where there is one, the right word."""
    (fault,) = faults(HEAD + line + "\n")
    assert (fault.line, fault.column) == (row, column)
    assert words in f"{fault.what}; {fault.right}"


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    """Each has its own line."""
    found = faults("model: m\nserved_name: 5\nattempts: x\nflags: 3\nnonsense: 1\n")
    assert [fault.line for fault in found] == [2, 3, 4, 5]


def test_a_misspelt_key_is_not_also_a_missing_one() -> None:
    """`modle` instead of `model` is one mistake."""
    (fault,) = faults("modle: m\nserved_name: s\n")
    assert "did you mean model?" in fault.right


def test_a_missing_key_is_told_where_its_mapping_begins() -> None:
    """There is no better place for what is not there."""
    (fault,) = faults("served_name: s\n")
    assert (fault.line, fault.column, fault.what) == (1, 1, "'model' is missing")


def test_a_file_that_is_no_mapping_is_one_fault() -> None:
    """A list or a word instead of a preset."""
    for text in ("- a\n", "word\n", "5\n"):
        (fault,) = faults(text)
        assert "wants a mapping" in fault.what


def test_a_value_under_a_secret_name_is_not_repeated() -> None:
    """A fault about a password does not show it."""

    class Login(Frozen):
        password: int

    (fault,) = faults("password: hunter2\n", Login)
    assert "hunter2" not in str(fault)


def test_what_is_shown_cannot_move_the_cursor() -> None:
    """Control characters and long texts in a value are escaped and cut."""
    (fault,) = faults(HEAD + 'attempts: "\\e[2Jx' + "y" * 500 + '"\n')
    assert "\x1b" not in str(fault)
    assert len(str(fault)) < 200


def test_what_is_excused_is_neither_a_fault_nor_a_model() -> None:
    """Templates are judged after they were rendered."""
    document = parse(HEAD + 'attempts: "{{ n }}"\n', "p.yml")
    result = read(Preset, document.data, document, excused=lambda v: "{{" in str(v))
    assert result == (None, ())
