"""The general modules on this machine, beyond what the comparison with ansible-core covers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relight import modules
from relight.connections import connect
from relight.connections.local import LocalConnection
from relight.core.address import Address
from relight.core.outcome import Outcome
from relight.core.posix.answers import told
from relight.modules import Scope

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)


class _Place:
    """What a module sees of a project: a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root


@pytest.fixture(scope="module")
def connection() -> Iterator[LocalConnection]:
    """Return one connection to this machine."""
    opened = connect(Address(name="here", connection="local"))
    assert isinstance(opened, LocalConnection)
    yield opened
    opened.close()


def _run(connection: LocalConnection, module: str, root: Path, **args: Any) -> Outcome:
    file = modules.load(module)
    place: Any = _Place(root)
    scope = Scope(
        host="here",
        variables={},
        project=place,
        open_connection=lambda: connection,
        anew=lambda: pytest.fail("no second connection"),
        report=lambda _event: None,
        folder=str(root),
    )
    outcome: Outcome = file.run(file.Args(**args), scope)
    return outcome


def test_every_module_is_found_by_its_name() -> None:
    """A module's file gives its arguments and its act; Python's own words get an underscore."""
    assert {"command", "assert", "copy", "setup", "uri", "systemd_service"} <= set(modules.names())
    for name in modules.names():
        spec = modules.spec(name)
        assert spec.name == name
        assert callable(modules.load(name).run)


@settings(max_examples=40, deadline=None)
@given(words=st.lists(_TEXT, max_size=3))
def test_every_word_of_a_command_arrives_as_it_is(
    connection: LocalConnection, words: list[str]
) -> None:
    """No word of a command is read by a shell, whatever it holds."""
    argv = ["printf", "%s\\0", "begin", *words]
    ended = _run(
        connection, "command", Path("/"), argv=argv, expand_argument_vars=False,
        strip_empty_ends=False,
    )  # fmt: skip
    assert ended.values["stdout"].split("\0")[:-1] == ["begin", *words]


def test_hostile_paths_are_only_paths(connection: LocalConnection, tmp_path: Path) -> None:
    """Names that look like options, variables or commands name a file and nothing else."""
    canary = tmp_path / "canary"
    for name in (
        "-rf",
        "$(touch canary)",
        "`touch canary`",
        "a;touch canary",
        "'\"x",
        "*",
        "{{ x }}",
    ):
        path = f"{tmp_path}/{name}"
        assert _run(connection, "copy", tmp_path, dest=path, content="x").changed
        assert not _run(connection, "copy", tmp_path, dest=path, content="x").changed
        assert _run(connection, "stat", tmp_path, path=path).values["stat"]["size"] == 1
        assert _run(connection, "file", tmp_path, path=path, mode="0600").changed
        assert _run(connection, "wait_for", tmp_path, path=path, timeout=1).failed is False
        assert _run(connection, "file", tmp_path, path=path, state="absent").changed
        assert not Path(path).exists()
    assert not canary.exists()


def test_a_copy_is_whole_or_not_there(connection: LocalConnection, tmp_path: Path) -> None:
    """A file that does not pass its validation leaves the old one, and no litter."""
    (tmp_path / "f").write_text("old")
    ended = _run(
        connection, "copy", tmp_path, dest=f"{tmp_path}/f", content="new", validate="false %s"
    )
    assert ended.failed
    assert (tmp_path / "f").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_large_and_binary_sources_arrive_byte_for_byte(
    connection: LocalConnection, tmp_path: Path
) -> None:
    """A source of any bytes and more than one message is the same on the host."""
    data = os.urandom(300_000) + b"\0\xff\r\n"
    (tmp_path / "source").write_bytes(data)
    assert _run(connection, "copy", tmp_path, src="source", dest=f"{tmp_path}/copied").changed
    assert (tmp_path / "copied").read_bytes() == data


def test_a_folder_is_copied_as_in_ansible(connection: LocalConnection, tmp_path: Path) -> None:
    """With a slash at the end only what is inside is copied."""
    source = tmp_path / "files" / "tree" / "deep"
    source.mkdir(parents=True)
    (source / "f").write_text("x")
    out = tmp_path / "out"
    out.mkdir()
    assert _run(connection, "copy", tmp_path, src="tree", dest=str(out)).changed
    assert _run(connection, "copy", tmp_path, src="tree/", dest=str(out)).changed
    assert not _run(connection, "copy", tmp_path, src="tree/", dest=str(out)).changed
    assert (out / "tree" / "deep" / "f").read_text() == "x"
    assert (out / "deep" / "f").read_text() == "x"


def test_facts_come_in_one_round_trip(connection: LocalConnection, tmp_path: Path) -> None:
    """All that `setup` knows is asked at once."""
    connection.control(":")
    before = connection.round_trips
    facts = _run(connection, "setup", tmp_path).facts
    assert connection.round_trips == before + 1
    assert facts["ansible_hostname"] == os.uname().nodename.split(".")[0]
    assert facts["ansible_architecture"] == os.uname().machine
    assert facts["ansible_env"]["PATH"]
    assert facts["ansible_memtotal_mb"] > 0


def test_an_unchanged_copy_is_one_round_trip(connection: LocalConnection, tmp_path: Path) -> None:
    """What is there already is seen where it lies."""
    for _ in range(2):
        before = connection.round_trips
        _run(connection, "copy", tmp_path, dest=f"{tmp_path}/f", content="x\n")
        assert connection.round_trips == before + 1


def test_flags_are_read_whatever_the_files_version(
    tmp_path: Path, connection: LocalConnection
) -> None:
    """`lsattr -v` pads short versions of files with blanks; the flags stand behind them all."""
    for number in range(40):
        (tmp_path / f"f{number}").write_text("x")
    found = [_run(connection, "stat", tmp_path, path=str(p)).values for p in tmp_path.iterdir()]
    assert len({one["stat"].get("attr_flags") for one in found}) == 1


def test_a_script_that_breaks_off_is_a_failure() -> None:
    """A shell that stops in the middle never looks like "nothing to do"."""

    @dataclass(frozen=True)
    class Broken:
        exit: int = 2
        out: str = ""
        err: str = "sh: 57: Syntax error: Bad function name"

    assert "Bad function name" in told(Broken())["error"]
