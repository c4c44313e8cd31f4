"""The sh text that is sent: any login shell reads it, and no value in it becomes sh."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relight.connections import script
from relight.errors import HostError

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=60)


def through(shell: str, line: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Let a login shell run the opening command, with a line and data on stdin."""
    return subprocess.run(
        [shell, "-c", script.OPEN],
        input=line.encode() + data,
        capture_output=True,
        check=False,
        timeout=20,
    )


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "zsh", "fish"])
def test_any_login_shell_opens(shell: str) -> None:
    """Whatever the login shell is, a command runs in sh, and stdin after the line is its own."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    text = "cat; echo \"$X\" 'it''s'\nreadlink /proc/$$/exe"
    line = script.command("box", text, "MARK", {"X": "a\n'b'"}, fed=True)
    ended = through(shell, line, b"\0data\n")
    assert ended.stdout.partition(b"\n")[2].startswith(b"\0data\na\n'b' its\n/")
    assert ended.stdout.startswith(b"MARK ")
    assert ended.stderr == b"MARK"


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "zsh", "fish"])
def test_any_login_shell_carries(shell: str) -> None:
    """A command that travels with its opening runs in sh, and stdin is its own from the start."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    text = script.command("box", "cat; echo 'it'\\''s\n$HOME é'", "MARK", {}, fed=True)
    opening = script.carrying(text.encode())
    ended = subprocess.run(
        [shell, "-c", opening], input=b"\0data\n", capture_output=True, check=False, timeout=20
    )
    assert ended.stdout.partition(b"\n")[2] == "\0data\nit's\n$HOME é\n".encode()


LOGIN_SHELLS = [one for one in ("sh", "bash", "zsh", "fish") if shutil.which(one)]


@settings(max_examples=120, deadline=None)
@given(shell=st.sampled_from(LOGIN_SHELLS), word=texts)
@example(shell="fish", word="\\\\'\\'\\\"$HOME`id`!n\nname")
def test_no_login_shell_reads_what_is_carried(shell: str, word: str) -> None:
    """Whatever a command says, the login shell hands it on as it is: none reads a part itself."""
    quoted = "'" + word.replace("'", "'\\''") + "'"
    opening = script.carrying(f"printf %s {quoted}".encode())
    ended = subprocess.run([shell, "-c", opening], capture_output=True, check=False, timeout=20)
    assert ended.stdout == word.encode()


@settings(max_examples=60, deadline=None)
@given(value=texts, word=texts)
def test_no_text_is_read_as_sh(value: str, word: str) -> None:
    """A value of the environment, and a quoted word of a command, arrive as they are."""
    quoted = "'" + word.replace("'", "'\\''") + "'"
    line = script.command("box", f'printf "%s|%s" "$X" {quoted}', "MARK", {"X": value}, fed=True)
    assert line.count("\n") == 1
    printed = through("sh", line).stdout.partition(b"\n")[2]
    assert printed == f"{value}|{word}".encode()


@settings(max_examples=40, deadline=None)
@given(user=texts)
def test_no_user_is_read_as_sh(user: str) -> None:
    """A user to become is one word, however it is spelt: the shell runs nothing of it."""
    line = script.become(user)
    assert line.count("\n") == 1
    told = 'sudo() { printf "%s|" "$@"; }; id() { echo somebody-else; }; relight_n="\n"; '
    ended = subprocess.run(
        ["sh", "-c", told + line.replace("else exec sudo", "else sudo")],
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert ended.stdout.startswith(f"-n|-H|-u|{user}|--|/bin/sh|-c|".encode())


@given(texts)
def test_marks_never_repeat(text: str) -> None:
    """A mark is fresh for each use and stands in no text by chance."""
    assert script.mark() != script.mark()
    assert script.mark() not in text


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800"])
def test_unsendable_text_is_refused(text: str) -> None:
    """What no shell can be told is an error of words."""
    with pytest.raises(HostError):
        script.payload("box", text)
