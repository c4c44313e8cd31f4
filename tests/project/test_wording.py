"""What a person reads: names that were meant, values that are safe to show."""

from __future__ import annotations

import pytest

from relight.errors import Fault
from relight.project.files import Files
from relight.project.folding import Folded
from relight.project.wording import closest, did_you_mean, got, is_secret


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("modle", "model"),
        ("served-name", "served_name"),
        ("MODEL", "model"),
        ("maxdowntime", "max_downtime"),
        ("zzz", None),
        ("", None),
    ],
)
def test_the_name_that_was_probably_meant(name: str, meant: str | None) -> None:
    """Other spellings and slips; nothing for a name that is like none."""
    assert closest(name, ["model", "served_name", "max_downtime"]) == meant


def test_without_a_close_name_the_known_ones_are_listed() -> None:
    """Up to twenty of them."""
    assert did_you_mean("zzz", ["a", "b"], "known keys") == "known keys: a, b"
    assert did_you_mean("zzz", [f"k{n}" for n in range(30)]).endswith("k19, ...")
    assert did_you_mean("zzz", [], "presets") == "presets: none"


@pytest.mark.parametrize(
    ("value", "name", "words"),
    [
        (None, "", "nothing"),
        (True, "", "true"),
        (5, "", "the number 5"),
        ("x", "", "'x'"),
        ({}, "", "a mapping"),
        ([], "", "a list"),
        ("hunter2", "db_password", "a value that is not shown"),
        (5, "HF_TOKEN", "a value that is not shown"),
    ],
)
def test_a_value_in_words(value: object, name: str, words: str) -> None:
    """As YAML would call it; never that of a secret."""
    assert got(value, name) == words


@pytest.mark.parametrize(
    "name", ["HF_TOKEN", "token", "api-key", "API_KEY", "db_password", "secrets"]
)
def test_names_of_secrets(name: str) -> None:
    """By the words that people use."""
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["max_tokens", "tokenizer-path", "speculative-num-draft-tokens", "keys", "model",
             "ansible_ssh_private_key_file"]
)  # fmt: skip
def test_names_of_no_secrets(name: str) -> None:
    """Language models count tokens; a key's file is a path."""
    assert not is_secret(name)


def test_a_fault_of_many_hosts_is_one() -> None:
    """With the first hosts named; one that a file has anyway is not told again."""
    folded, known, shared = Folded(), Fault("f", 1, 1, "known"), Fault("f", 2, 1, "shared")
    for host in ("a", "b", "c", "d", "e"):
        folded.add(host, [known, shared])
    assert [f.what for f in folded.faults({known})] == ["shared (on a, b, c and 2 more)"]


def test_files_are_named_as_the_operator_would(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative below the working directory, absolute elsewhere."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    monkeypatch.chdir(here)
    files = Files()
    assert files.shown(here / "a" / ".." / "b.yml") == "b.yml"
    assert files.shown(there / "b.yml") == str(there / "b.yml")
