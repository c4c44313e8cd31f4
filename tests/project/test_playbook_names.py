"""Names and files that a playbook needs and nothing defines are told before it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from relight.errors import InputFaults
from tests.executor.playbooks import Lab

_HEAD = "- hosts: one\n  gather_facts: false\n"


def _faults(root: Path, text: str) -> list[str]:
    try:
        Lab(root).run(_HEAD + text, check=True)
    except InputFaults as faults:
        return [str(fault) for fault in faults.faults]
    return []


@pytest.mark.parametrize(
    ("task", "place"),
    [
        ('{debug: {msg: "{{ colour }}"}}', "5:21"),
        ("{debug: {msg: x}, when: colour}", "5:31"),
        ("{debug: {msg: x}, when: [colour == 1, true]}", "5:32"),
        ("{command: 'true', register: r, changed_when: colour}", "5:52"),
        ("{command: 'true', register: r, failed_when: colour.x}", "5:51"),
        ("{command: 'true', register: r, until: colour}", "5:45"),
        ('{debug: {msg: x}, loop: "{{ colour }}"}', "5:31"),
        ('{debug: {msg: x}, loop: [a, "{{ colour }}"]}', "5:35"),
        ('{command: "true", environment: {A: "{{ colour }}"}}', "5:42"),
        ("{assert: {that: [colour == 1]}}", "5:24"),
        ('{debug: {msg: "{{ v }}"}, vars: {v: "{{ colour }}"}}', "5:43"),
        ("{block: [{debug: {msg: x}}], when: colour}", "5:42"),
    ],
)
def test_a_name_that_nothing_defines_is_a_fault(tmp_path: Path, task: str, place: str) -> None:
    """Wherever it is rendered for sure: with its place, and the nearest name that exists."""
    text = f"  vars: {{color: red}}\n  tasks:\n    - {task}\n"
    assert _faults(tmp_path, text) == [
        f"play.yml:{place}: nothing defines the variable 'colour'; did you mean color?"
    ]


def test_a_variable_is_followed_to_what_it_needs(tmp_path: Path) -> None:
    """The fault stands where the unknown name is written: in the play's vars or in their file."""
    (tmp_path / "more.yml").write_text("# Variables.\nc: '{{ typo2 }}'\n")
    text = """\
  vars: {a: "{{ b }}", b: "{{ typo1 }}", unused: "{{ never }}"}
  vars_files: [more.yml]
  tasks:
    - {debug: {msg: "{{ a }} {{ c }}"}}
"""
    found = _faults(tmp_path, text)
    assert [line.partition("; ")[0] for line in found] == [
        "more.yml:2:4: nothing defines the variable 'typo2'",
        "play.yml:3:27: nothing defines the variable 'typo1'",
    ]


@pytest.mark.parametrize(
    "tasks",
    [
        "[{debug: {msg: '{{ x }}'}, when: false}]",
        "[{debug: {msg: x}, when: [false, x]}]",
        "[{debug: {msg: '{{ x }}'}, ignore_errors: true}]",
        "[{debug: {msg: '{{ x }}'}, tags: never}]",
        "[{block: [{debug: {msg: '{{ x }}'}}], rescue: [{debug: {msg: y}}]}]",
        "[{block: [{debug: {msg: '{{ x }}'}, when: x}], when: false}]",
        "[{command: 'true', register: x}, {debug: {msg: '{{ x }}'}, when: x is skipped}]",
        "[{set_fact: {x: 1}}, {debug: {msg: '{{ x }}'}, changed_when: x == 2}]",
        "[{command: 'true', register: x, until: x.rc == 0, failed_when: x.rc != 0}]",
        "[{debug: {msg: '{{ x | default(1) }}'}, when: x is undefined}]",
        "[{debug: {msg: '{{ v | default(1) }}'}, vars: {v: '{{ x }}'}}]",
        "[{debug: {msg: '{{ x }} {{ i }}'}, loop: [1], loop_control: {loop_var: x, index_var: i}}]",
        "[{debug: {msg: '{{ item }} {{ ansible_hostname | default(1) }}'}, loop: [1]}]",
        "[{debug: {var: x}}]",
        "[{include_tasks: more.yml, when: false}]",
        "[{include_tasks: more.yml, loop: '{{ [] }}'}]",
        "[{include_tasks: more.yml, vars: {x: 1}}]",
        "[{include_tasks: {file: more.yml, apply: {vars: {x: 1}}}}]",
        "[{include_tasks: {file: more.yml, apply: {when: false}}}]",
    ],
)
def test_nothing_is_said_where_a_task_may_be_spared(tmp_path: Path, tasks: str) -> None:
    """Conditions, rescues, ignored errors, defaults, registered names and includes: no alarm."""
    (tmp_path / "more.yml").write_text("# Tasks.\n- {debug: {msg: '{{ x }}'}}\n")
    assert _faults(tmp_path, f"  tasks: {tasks}\n") == []


def test_files_that_tasks_send_are_looked_for(tmp_path: Path) -> None:
    """Literal names of templates and files, all at once, with the nearest that is there."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "site.conf.j2").write_text("x")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "motd").write_text("x")
    text = """\
  tasks:
    - {template: {src: site.conf.j2, dest: /tmp/never}}
    - {copy: {src: motd, dest: /tmp/never}}
    - {template: {src: site.cnf.j2, dest: /tmp/never}}
    - {copy: {src: mtod, dest: /tmp/never}}
    - copy: src=nothing dest=/tmp/never
    - {copy: {src: later, dest: /tmp/never, remote_src: true}}
    - {copy: {src: "{{ inventory_hostname }}", dest: /tmp/never}, when: false}
    - {copy: {src: /made/by/the/run, dest: /tmp/never}, when: false}
    - {copy: {src: spared, dest: /tmp/never}, ignore_errors: true}
"""
    assert _faults(tmp_path, text) == [
        "play.yml:6:24: there is no file 'site.cnf.j2'; did you mean site.conf.j2?",
        "play.yml:7:20: there is no file 'mtod'; did you mean motd?",
        "play.yml:8:13: there is no file 'nothing'; files here: motd, play.yml",
    ]


def test_a_source_lies_beside_the_file_of_tasks_too(tmp_path: Path) -> None:
    """A file of tasks names what lies beside it, before what lies beside the playbook."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "more.yml").write_text("# Tasks.\n- {copy: {src: s, dest: '{{ d }}'}}\n")
    (tmp_path / "sub" / "s").write_text("beside")
    (tmp_path / "s").write_text("above")
    text = f"{_HEAD}  vars: {{d: {tmp_path}/out}}\n  tasks: [{{import_tasks: sub/more.yml}}]\n"
    Lab(tmp_path).run(text)
    assert (tmp_path / "out").read_text() == "beside"


def test_a_name_that_no_template_could_read_is_a_fault(tmp_path: Path) -> None:
    """Variables have the names of variables, in vars and in files of them."""
    (tmp_path / "more.yml").write_text("# Variables.\n1st: x\n")
    text = '  vars: {"two words": x}\n  vars_files: [more.yml]\n  tasks: []\n'
    assert [line.partition(";")[0] for line in _faults(tmp_path, text)] == [
        "more.yml:2:1: '1st' is no name of a variable",
        "play.yml:3:10: 'two words' is no name of a variable",
    ]
