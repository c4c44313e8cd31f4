"""Ansible's connection variables come to an Address, or are refused in words."""

from __future__ import annotations

from typing import Any

import pytest

from relight.core.address import Address
from relight.errors import Fault
from relight.project.connection_variables import address
from relight.project.rendering import Rendered
from relight.project.variables import Variable, of_document
from relight.project.yaml import parse


def reached(text: str) -> tuple[Address | None, tuple[Fault, ...]]:
    """Return how a host with these variables is reached."""
    document = parse(text, "h.yml")
    variables, _ = of_document(document)
    return address(Variable("box", document, ()), Rendered(variables))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1", {}),
        ("ansible_host: 192.0.2.1", {"host": "192.0.2.1"}),
        ("{ansible_host: a, ansible_ssh_host: b}", {"host": "b"}),
        ("{ansible_ssh_port: 23, ansible_port: 22}", {"port": 23}),
        ("ansible_port: '2222'", {"port": 2222}),
        ("{p: 2200, ansible_port: '{{ p + 22 }}'}", {"port": 2222}),
        ("ansible_user: root", {"user": "root"}),
        ("ansible_connection: local", {"connection": "local"}),
        ("ansible_connection: smart", {"connection": "ssh"}),
        ("ansible_connection: ansible.builtin.ssh", {"connection": "ssh"}),
        ("ansible_ssh_private_key_file: ~/.ssh/id", {"private_key_file": "~/.ssh/id"}),
        ("{ansible_become: yes, ansible_become_user: sg}", {"become": True, "become_user": "sg"}),
        ("ansible_become: 'true'", {"become": True}),
        ("ansible_host_key_checking: no", {"host_key_checking": False}),
        ("ansible_timeout: 30", {"timeout": 30.0}),
        ("{ansible_user: '', ansible_port: }", {}),
        ("ansible_python_interpreter: /usr/bin/python3", {}),
        ("{ansible_become_method: sudo, ansible_shell_type: sh, ansible_pipelining: true}", {}),
    ],
)
def test_a_variable_says_how_a_host_is_reached(text: str, expected: dict[str, Any]) -> None:
    """Under Ansible's names; of two names the ssh one wins; templates are rendered."""
    found, faults = reached(text)
    assert faults == ()
    assert found == Address(name="box", **expected)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ansible_prot: 22", "did you mean ansible_port?"),
        ("ansible_port: abc", "ansible_port wants a whole number, got 'abc'"),
        ("ansible_port: yes", "ansible_port wants a number, got true"),
        ("ansible_port: 70000", "at most 65535"),
        ("ansible_connection: docker", "ansible_connection wants 'ssh' or 'local', got 'docker'"),
        ("ansible_ssh_common_args: -o ProxyJump=x", "~/.ssh/config"),
        ("ansible_ssh_extra_args: -C", "~/.ssh/config"),
        ("ansible_password: hunter2", "never handles passwords"),
        ("ansible_ssh_pass: hunter2", "never handles passwords"),
        ("ansible_become_pass: hunter2", "without a password"),
        ("ansible_become_method: su", "relight knows sudo only"),
        ("ansible_become_flags: -n", "without a password"),
        ("ansible_winrm_transport: ntlm", "not honoured"),
        ("ansible_colour: red", "rename it"),
        ("ansible_host: '-oProxyCommand=id'", "cannot be"),
        ("ansible_host: 'a;id'", "cannot be"),
        ("ansible_user: 'root -v'", "cannot be"),
        ("ansible_become_user: '$(id)'", "cannot be"),
        ('ansible_ssh_private_key_file: "a\\nb"', "cannot be"),
        ("ansible_host: '{{ adress }}'", "'adress' is undefined"),
    ],
)
def test_what_would_be_misread_is_refused(text: str, words: str) -> None:
    """At its line, with what to write instead, and without a password's value."""
    found, faults = reached(text)
    assert found is None
    (fault,) = faults
    assert (fault.file, fault.line) == ("h.yml", 1)
    assert words in str(fault)
    assert "hunter2" not in str(fault)


def test_several_faults_of_a_host_are_told_at_once() -> None:
    """Each at its own line."""
    _, faults = reached("ansible_port: x\nansible_prot: 1\nansible_host: '{{ n }}'\n")
    assert sorted(fault.line for fault in faults) == [1, 2, 3]
