"""Handlers: one pass in the order in which they are written, and what is left over is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.executor.playbooks import Lab


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a folder to run playbooks in; what a host keeps lies in it too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return Lab(tmp_path)


def test_a_handler_that_a_handler_notifies_keeps_its_place(lab: Lab) -> None:
    """One that stands behind runs in the same pass; one before runs at the next flush."""
    lab.run("""
- hosts: one
  gather_facts: false
  tasks: [{command: "true", notify: middle}]
  post_tasks: [{shell: "echo post >> {{ out }}/log"}]
  handlers:
    - {name: before, shell: "echo before >> {{ out }}/log"}
    - {name: middle, shell: "echo middle >> {{ out }}/log", notify: [after, before]}
    - {name: between, shell: "echo between >> {{ out }}/log", listen: after}
    - {name: after, shell: "echo after >> {{ out }}/log"}
""")
    assert (lab.root / "log").read_text().split() == [
        "middle", "between", "after", "post", "before",
    ]  # fmt: skip


def test_each_item_of_a_loop_notifies_its_own(lab: Lab) -> None:
    """The name may use the item."""
    lab.run("""
- hosts: one
  gather_facts: false
  tasks: [{command: "echo {{ item }}", loop: [b, a], notify: "on {{ item }}"}]
  handlers:
    - {name: on a, shell: "echo a >> {{ out }}/log"}
    - {name: on b, shell: "echo b >> {{ out }}/log"}
""")
    assert (lab.root / "log").read_text().split() == ["a", "b"]


def test_hosts_that_share_a_home_keep_apart_what_is_left_over(lab: Lab) -> None:
    """What one host of a machine did not get to is not run for another name of that machine."""
    text = """
- hosts: one:two
  gather_facts: false
  tasks:
    - {command: "true", notify: late, when: first and inventory_hostname == 'one'}
    - {command: "false", when: first and inventory_hostname == 'one'}
  handlers:
    - {name: late, shell: "echo {{ inventory_hostname }} >> {{ out }}/log"}
"""
    lab.run(text, {"first": True})
    lab.run(text, {"first": False})
    assert (lab.root / "log").read_text().split() == ["one"]


def test_a_handler_that_fails_leaves_the_later_ones_for_the_next_run(lab: Lab) -> None:
    """Those that were notified and not reached are kept, the failed one is not."""
    text = """
- hosts: one
  gather_facts: false
  tasks: [{command: "true", notify: [bad, late], when: first}]
  handlers:
    - {name: bad, command: "false"}
    - {name: late, shell: "echo late >> {{ out }}/log"}
"""
    assert lab.run(text, {"first": True}).recap.exit_code == 2
    assert not (lab.root / "log").exists()
    assert lab.run(text, {"first": False}).recap.exit_code == 0
    assert (lab.root / "log").read_text() == "late\n"
