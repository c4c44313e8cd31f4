"""The scripts of the general modules: shellcheck reads them, and hostile values stay values."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relight.core.posix import command, facts, file, install, stat, waiting
from relight.core.posix.words import expanded, glob

_LIMITS = command.Limits(chdir="/a b", creates="/x*", removes="~/y")
SCRIPTS = {
    "install": install.script(install.Install(dest="~/a b", name="n", validate="check '%s' x")),
    "file": file.script(file.FilePlan("/a b", state="link", src="$(id)")),
    "stat": stat.script("~root/x", follow=True, checksum="sha1", mime=True, flags=True),
    "wait": waiting.script(waiting.Wait(3, port=3, drained=True)),
    "facts": facts.SCRIPT,
    "program": command.program(["a", "$HOME", "~", "*"], "0" * 32, _LIMITS),
    "shell": command.shell("echo 'x'", "/bin/sh", "0" * 32, _LIMITS),
    "check": command.check("0" * 32, _LIMITS),
}
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\n"), max_size=20)


@pytest.mark.parametrize("name", SCRIPTS)
def test_shellcheck_has_nothing_to_say(name: str) -> None:
    """Every script is POSIX sh without a warning."""
    run = ["shellcheck", "--shell=sh", "--severity=warning", "-"]
    checked = subprocess.run(run, input=SCRIPTS[name], capture_output=True, text=True, check=False)
    assert checked.stdout == ""
    assert checked.returncode == 0


@settings(max_examples=60, deadline=None)
@given(word=_TEXT)
def test_only_variables_and_the_home_folder_act(word: str) -> None:
    """A word comes out as written, but for set variables and a leading `~`."""
    if "$" in word or word.startswith("~"):
        return
    said = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {expanded(word)}"], capture_output=True, check=True
    )
    assert said.stdout.decode() == f"{word}\n"


@pytest.mark.parametrize(
    ("word", "result"),
    [
        ("$KNOWN", "value"),
        ("${KNOWN}x", "valuex"),
        ("$UNKNOWN-${UNKNOWN}", "$UNKNOWN-${UNKNOWN}"),
        ("$(id)`id`", "$(id)`id`"),
        ("~/x", "/home/me/x"),
        ("a~", "a~"),
        ("$1 $?", "$1 $?"),
    ],
)
def test_variables_expand_as_in_ansible(word: str, result: str) -> None:
    """Unknown variables stay, commands never run."""
    environment = {"KNOWN": "value", "HOME": "/home/me", "PATH": "/usr/bin:/bin"}
    said = subprocess.run(
        ["sh", "-uc", f"printf %s {expanded(word)}"],
        capture_output=True, check=True, env=environment,
    )  # fmt: skip
    assert said.stdout.decode() == result


@settings(max_examples=40, deadline=None)
@given(pattern=_TEXT)
def test_a_glob_runs_nothing(pattern: str) -> None:
    """Whatever a pattern holds, the shell reads one list of words from it, quoted."""
    words = shlex.split(glob(pattern))
    assert "".join(words) == pattern


def test_a_mark_of_another_run_is_output() -> None:
    """A command cannot pretend that it did not run."""
    assert command.end(f"{'1' * 32} creates", "0" * 32) == ""
    assert command.end(f"{'0' * 32} creates", "0" * 32) == "creates"
    assert command.end(f"{'0' * 32} creates and more", "0" * 32) == ""
