"""Takeover: a release repeats a start exactly, keeps its secrets apart, and refuses in words."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relight.core.build import PastedCommand
from relight.core.takeover import (
    Found,
    Process,
    Takeover,
    read_found,
    read_secret,
    secret_variable,
    server_of,
    takeover,
)

TELL = "import sys, os, json; print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]))"
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
names = st.from_regex(r"HF_[A-Z]{1,6}", fullmatch=True)
HOSTILE = ("$(touch pwned)", "`id`", "a b", "'", '"', "", "-n", "\n", "é", "; rm -rf /", "\\")


def process(*argv: str, **more: object) -> Process:
    """Return a process of user 7 that could be adopted."""
    fields: dict[str, object] = {
        "pid": 41,
        "started": 5,
        "uid": 7,
        "argv": argv,
        "cwd": "/",
        "environ": {},
        "readable": True,
    }
    return Process(**(fields | more))  # type: ignore[arg-type]


def command(*secrets: str) -> PastedCommand:
    """Return a command that has these secrets."""
    return PastedCommand(engine="sglang", model="m", secrets=secrets)


def taken(one: Process, pasted: PastedCommand) -> Takeover:
    """Return the release for a process."""
    return takeover(
        one, pasted, service="main", launcher="process", port=1, within=9.0, known=("0003-a-b",)
    )


def replay(folder: Path, one: Takeover) -> tuple[list[str], dict[str, str], str]:
    """Run a release's launch.sh and return the words, variables and folder that it ended in."""
    (folder / "launch.sh").write_bytes(one.launch_sh)
    (folder / "env").write_bytes(one.secrets)
    done = subprocess.run(
        ["sh", str(folder / "launch.sh")],
        env={"PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
    )
    argv, environ, cwd = json.loads(done.stdout)
    return argv, environ, cwd


@settings(max_examples=25, deadline=None)
@given(
    st.lists(words | st.sampled_from(HOSTILE), max_size=5),
    st.dictionaries(names, words | st.sampled_from(HOSTILE), max_size=3),
    words | st.sampled_from(HOSTILE),
)
def test_it_starts_again_as_it_was_started(
    tmp_path_factory: pytest.TempPathFactory, argv: list[str], env: Mapping[str, str], secret: str
) -> None:
    """Any words, any values: the same words, variables and folder, nothing of them run."""
    folder = tmp_path_factory.mktemp("old place")
    argv = [one for one in argv if not one.startswith("--")]
    asked = (*argv, "--api-key", secret, f"--admin-api-key={secret}", "--last")
    environ = dict(env) | {"HF_TOKEN": secret}
    one = process(sys.executable, "-c", TELL, *asked, cwd=str(folder), environ=environ)
    told, variables, cwd = replay(
        folder, taken(one, command("api-key", "admin-api-key", "HF_TOKEN"))
    )
    assert tuple(told) == asked
    assert {name: variables[name] for name in environ} == environ
    assert cwd == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["env", "launch.sh"]


def test_secrets_stay_out_of_script_and_lockfile() -> None:
    """Both spellings of a flag and a variable: named where they were, kept in one file."""
    one = process(
        "python3",
        "--api-key",
        "hunter2",
        "--admin-api-key=hunter3",
        "--port",
        "8",
        environ={"HF_TOKEN": "hunter4", "HF_HOME": "/x"},
    )
    result = taken(one, command("api-key", "admin-api-key", "HF_TOKEN"))
    open_parts = result.launch_sh + result.release.stored()
    assert b"hunter" not in open_parts
    assert "hunter" not in repr(result)
    assert "hunter" not in repr(one)
    assert result.release.env == {"HF_HOME": "/x"}
    assert read_secret(result.secrets.decode(), secret_variable("api-key")) == "hunter2"
    assert set(result.release.secrets) == {
        "HF_TOKEN",
        secret_variable("api-key"),
        secret_variable("admin-api-key"),
    }
    assert result.release.id.startswith("0004-adopted-")


def test_no_name_depends_on_a_secret() -> None:
    """A hash of a key would let it be guessed: with another key the lockfile is the same."""
    stored = {
        taken(process("python3", "--api-key", key), command("api-key")).release.stored()
        for key in ("hunter2", "hunter3")
    }
    assert len(stored) == 1


def knows(text: str) -> PastedCommand:
    """Read a command as an engine does that knows one program."""
    if "serve" not in text:
        raise ValueError(text)
    return command()


def test_the_server_is_found_above_its_worker() -> None:
    """Who listens may be a child: the nearest one that the engine knows is the server."""
    worker, main, shell = process("worker"), process("serve", pid=40), process("sh", pid=39)
    one, _ = server_of(Found(7, (worker, main, shell)), knows, asked="x")
    assert one.pid == 40


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (Found(7, ()), "there is none"),
        (Found(7, (), "a process of user id 0"), "log in as that user"),
        (Found(7, (process("serve", uid=0),)), "belongs to user id 0"),
        (Found(7, (process("worker"), process("serve", uid=0))), "no server that this engine"),
        (Found(7, (process("serve", relight="/h/.relight/main/launches/3"),)), "relight's own"),
        (Found(7, (process("serve", apart=("mnt",)),)), "container"),
        (Found(7, (process("serve", readable=False),)), "cannot be read"),
        (Found(7, (process("serve", cwd="/x (deleted)"),)), "is gone"),
        (Found(7, (process("serve", "\ufffd"),)), "not UTF-8"),
        (Found(7, (process("vim"),)), "no server that this engine knows"),
    ],
)
def test_what_may_not_be_adopted_is_named(found: Found, why: str) -> None:
    """Each refusal says what is in the way."""
    with pytest.raises(ValueError, match=r".") as caught:
        server_of(found, knows, asked="a server")
    assert why in str(caught.value)


def encoded(*texts: str) -> str:
    """Return texts as a host prints them."""
    return base64.b64encode(b"".join(one.encode() + b"\0" for one in texts)).decode()


def test_a_hosts_answer_is_read_as_it_is() -> None:
    """Words with newlines and empty words, variables without names, the nearest process first."""
    argv = encoded("serve", "", "a\nprocess=1")
    environ = encoded("HF_A=1\n2", "=x", "no")
    cwd = base64.b64encode(b"/old place").decode()
    text = (
        f"user=7\nprocess=41\nstarted=5\nuid=7\nargv={argv}\ncwd={cwd}\nenviron={environ}\n"
        "relight=\nreadable=yes\nunit=\nprocess=40\nuid=0\n"
    )
    found = read_found(text)
    first, second = found.chain
    assert (found.user, first.pid, first.started, second.pid) == (7, 41, 5, 40)
    assert first.argv == ("serve", "", "a\nprocess=1")
    assert first.environ["HF_A"] == "1\n2"
    assert first.cwd == "/old place"
    assert first.readable
    assert not second.readable


@given(st.text(max_size=80))
def test_no_answer_of_a_host_breaks_the_reading(text: str) -> None:
    """Whatever it prints is read, and what is no process is refused in words."""
    found = read_found(f"process={text}\nuid={text}\nargv={text}\nenviron={text}")
    with pytest.raises(ValueError, match=r"."):
        server_of(found, knows, asked="a server")
