"""What a run would do, without doing it."""

from __future__ import annotations

from pathlib import Path

from relight.executor import listing, load
from relight.project.loader import load as load_project
from tests.executor.playbooks import INVENTORY

_TEXT = """
- name: First
  hosts: "{{ where }}"
  tags: [p]
  tasks:
    - {name: Say, command: echo, tags: [a, b]}
    - block: [{debug: {msg: x}}]
      tags: c
    - {command: "true", tags: never}
"""


def test_plays_tasks_and_hosts_are_listed(tmp_path: Path) -> None:
    """Tasks come with their tags, hosts as the limit leaves them, as ansible-playbook says it."""
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "hosts.yml").write_text(INVENTORY)
    path = tmp_path / "play.yml"
    path.write_text(_TEXT)
    project = load_project(tmp_path)
    book = load(project, path)
    text = listing(
        book, project, hosts=True, task_names=True, limit="two", extra_vars={"where": "all"}
    )
    assert text == (
        f"\nplaybook: {path}\n\n  play #1 (all): First\tTAGS: [p]\n"
        "    pattern: ['all']\n    hosts (1):\n      two\n    tasks:\n"
        "      Say\tTAGS: [a, b, p]\n      debug\tTAGS: [c, p]\n"
    )
    only = listing(
        book, project, task_names=True, tags=frozenset({"c"}), extra_vars={"where": "one"}
    )
    assert "debug" in only
    assert "Say" not in only
