"""Secrets are read at deploy time, and a failure names the reference, never the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from relight.core.preset import Preset
from relight.errors import InputFaults
from relight.project.secrets import Secrets, resolve
from relight.project.validation import read
from relight.project.yaml import parse

Lay = Callable[[Mapping[str, str]], Path]


def resolved(env: str, base: Path, run: Callable[[str], str] = str.upper) -> Secrets:
    """Return the secrets of a preset with this `env`."""
    document = parse(f"model: m\nserved_name: s\nenv:\n{env}", "p.yml")
    preset, faults = read(Preset, document.data, document)
    assert preset is not None, faults
    return resolve(preset, document, run, base)


def test_each_kind_of_reference(lay: Lay, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable, a file without its last line end, what a command prints; no plain values."""
    root = lay({"token": "from-file\n"})
    monkeypatch.setenv("MINE", "from-env")
    env = "  A: {env: MINE}\n  B: {file: token}\n  C: {command: print it}\n  D: plain\n"
    found = resolved(env, root, lambda command: f"{command} done\n")
    assert found.values == {"A": "from-env", "B": "from-file", "C": "print it done"}


def test_a_file_below_home(lay: Lay, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is the operator's."""
    monkeypatch.setenv("HOME", str(lay({"home/t": "x"}) / "home"))
    assert resolved("  A: {file: ~/t}\n", Path("/nowhere")).values == {"A": "x"}


def test_every_reference_without_a_value_is_named_at_its_line(
    lay: Lay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them in one run."""

    def fails(command: str) -> str:
        raise OSError(5, f"{command} said hunter2")

    root = lay({"empty": "\n", "nul": "a\0hunter2"})
    env = (
        "  A: {env: RELIGHT_NOT_SET}\n"
        "  B: {file: nowhere}\n"
        "  C: {file: empty}\n"
        "  D: {file: nul}\n"
        "  E: {file: ~nobody-here/x}\n"
        "  F: {file: .}\n"
        "  G: {env: RELIGHT_BYTES}\n"
    )
    monkeypatch.setenv("RELIGHT_BYTES", "hunter2\udcff")
    with pytest.raises(InputFaults) as caught:
        resolved(env, root)
    found = caught.value.faults
    assert [fault.line for fault in found] == [4, 5, 6, 7, 8, 9, 10]
    words = [
        "'RELIGHT_NOT_SET' is not set",
        "No such file",
        "empty",
        "NUL",
        "No such",
        "directory",
        "UTF-8",
    ]
    assert all(word in fault.what for word, fault in zip(words, found, strict=True))
    assert "hunter2" not in str(caught.value)
    with pytest.raises(InputFaults, match="the command 'get it' gave none"):
        resolved("  A: {command: get it}\n", root, fails)


def test_secrets_do_not_show_themselves_and_hide_their_values(
    lay: Lay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in a traceback nor in a text that was scrubbed."""
    monkeypatch.setenv("MINE", "hunter2")
    found = resolved("  A: {env: MINE}\n", lay({}))
    assert "hunter2" not in repr(found)
    assert found.scrub("the password is hunter2") == "the password is [hidden]"
