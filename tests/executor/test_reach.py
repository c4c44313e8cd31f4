"""Connection variables of every level, beside keywords: what a task's connection becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from relight.connections import Connection
from relight.core.address import Address
from tests.executor.playbooks import Lab


@dataclass
class _Watched(Lab):
    """A lab that notes the addresses it was asked for."""

    seen: list[Address] = field(default_factory=list)

    def connect(self, address: Address) -> Connection:
        self.seen.append(address)
        return super().connect(address.model_copy(update={"connection": "local", "become": False}))


@pytest.mark.parametrize(
    ("play", "task", "name", "value"),
    [
        ("vars: {ansible_port: 2222}", "", "port", 2222),
        ("vars: {ansible_port: 2222}", "vars: {ansible_port: '2223'}", "port", 2223),
        ("vars: {ansible_user: deploy}", "", "user", "deploy"),
        ("become: true", "", "become", True),
        ("become: true", "vars: {ansible_become: false}", "become", False),
        ("vars: {ansible_host: 10.0.0.9}", "", "host", "10.0.0.9"),
        ("connection: ssh", "", "connection", "local"),
        ("vars: {ansible_connection: smart}", "", "connection", "ssh"),
        ("vars: {who: app}", "become: true, become_user: '{{ who }}'", "become_user", "app"),
    ],
)
def test_the_strongest_word_counts(
    tmp_path: Path, play: str, task: str, name: str, value: object
) -> None:
    """A variable wins over the keyword of its name; the inventory says `local`."""
    more = f", {task}" if task else ""
    text = f'- hosts: one\n  gather_facts: false\n  {play}\n  tasks: [{{command: "true"{more}}}]\n'
    lab = _Watched(tmp_path)
    lab.run(text)
    assert getattr(lab.seen[-1], name) == value


@pytest.mark.parametrize("said", ["-oProxyCommand=touch /tmp/x", "a b", "x;reboot"])
def test_a_hostile_address_is_refused(tmp_path: Path, said: str) -> None:
    """What ssh or a shell would take for an option or for more is never handed on."""
    head = f"- hosts: one\n  gather_facts: false\n  vars: {{ansible_host: '{said}'}}\n"
    lab = _Watched(tmp_path)
    ran = lab.run(f"{head}  tasks: [{{command: 'true'}}]\n")
    assert ran.recap.exit_code == 2
    assert "host cannot be" in ran.texts()[0]
    assert lab.seen == []


def test_one_address_is_reached_once(tmp_path: Path) -> None:
    """Keywords that say what holds anyway open no second connection."""
    lab = _Watched(tmp_path)
    lab.run("""
- hosts: one
  gather_facts: false
  tasks:
    - {command: "true"}
    - {command: "true", become: false}
    - {command: "true", connection: ssh, vars: {ansible_timeout: 10}}
    - {command: "true", become: true}
""")
    assert [address.become for address in lab.seen] == [False, True]
