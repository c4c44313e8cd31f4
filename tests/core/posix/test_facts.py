"""What a host says about its account is what passwd says, whatever the environment claims."""

from __future__ import annotations

import os
import pwd
import subprocess

from relight.core.posix.answers import read
from relight.core.posix.facts import SCRIPT, facts


def _found(environment: dict[str, str]) -> dict[str, object]:
    run = ["sh", "-c", SCRIPT]
    said = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    return facts(read(said.stdout))


def test_the_account_is_that_of_passwd() -> None:
    """Home, shell and gecos are those of ansible-core: of passwd, not of HOME and SHELL."""
    account = pwd.getpwuid(os.getuid())
    found = _found({"PATH": os.environ["PATH"], "HOME": "/elsewhere", "SHELL": "/bin/none"})
    assert found["ansible_user_dir"] == account.pw_dir
    assert found["ansible_user_shell"] == account.pw_shell
    assert found["ansible_user_gecos"] == account.pw_gecos


def test_a_bare_environment_changes_nothing() -> None:
    """A service without SHELL, as CI is, sees the same account."""
    bare = _found({"PATH": os.environ["PATH"]})
    assert bare["ansible_user_shell"] == pwd.getpwuid(os.getuid()).pw_shell


def test_a_host_without_an_entry_says_its_home() -> None:
    """A container's user that passwd does not know has the home of its environment, no shell."""
    said = {"account": "", "home": "/data", "user": "1000 1000 1000"}
    found = facts(said)
    assert (found["ansible_user_dir"], found["ansible_user_shell"]) == ("/data", "")
