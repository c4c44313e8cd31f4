"""Whole plays on this machine: what fails, what is rescued, what the exit code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from relight.core.events import DiffShown, Note, TaskEnded
from relight.errors import InputFaults
from tests.executor.playbooks import Lab


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a folder to run playbooks in; what a host keeps lies in it too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return Lab(tmp_path)


def test_a_failed_host_takes_no_further_part(lab: Lab) -> None:
    """The others go on; the exit code is that of a failure."""
    ran = lab.run("""
- hosts: all
  gather_facts: false
  tasks:
    - {command: "test {{ inventory_hostname }} != two"}
    - {debug: {msg: "on {{ inventory_hostname }}"}}
""")
    assert ran.recap.exit_code == 2
    assert (ran.of("one").ok, ran.of("two").ok, ran.of("two").failed) == (2, 0, 1)
    assert [text for text in ran.texts() if ": on" in text] == ["one: on one", "three: on three"]


def test_an_unreachable_host_is_neither_rescued_nor_asked_again(lab: Lab) -> None:
    """Rescue and always are for failures; a lost host ends in 4."""
    lab.lost = {"two"}
    ran = lab.run("""
- hosts: all
  gather_facts: false
  tasks:
    - block: [{command: "true"}]
      rescue: [{debug: {msg: rescued}}]
      always: [{debug: {msg: always}}]
""")
    assert ran.recap.exit_code == 4
    assert ran.of("two").unreachable == 1
    assert not [text for text in ran.texts() if text.startswith("two: ") and "always" in text]
    assert "one: always" in ran.texts()


def test_ignore_unreachable_goes_on(lab: Lab) -> None:
    """An ignored loss of a host counts as ok and ignored."""
    lab.lost = {"two"}
    ran = lab.run("""
- hosts: two
  gather_facts: false
  tasks:
    - {command: "true", ignore_unreachable: true, register: r}
    - {debug: {msg: "{{ r is unreachable }}"}}
""")
    assert (ran.of("two").ok, ran.of("two").ignored, ran.recap.exit_code) == (2, 1, 0)


def test_handlers_survive_a_failed_run(lab: Lab) -> None:
    """What was notified before the failure runs the next time, once."""
    text = """
- name: Keeps
  hosts: one
  gather_facts: false
  tasks:
    - {command: "true", notify: late, when: first}
    - {command: "false", when: first}
  handlers:
    - {name: late, shell: "echo ran >> {{ out }}/handler"}
"""
    first = lab.run(text, {"first": True})
    assert first.recap.exit_code == 2
    assert any("kept for the next run: late" in e.text for e in first.events if isinstance(e, Note))
    assert not (lab.root / "handler").exists()
    lab.run(text, {"first": False})
    lab.run(text, {"first": False})
    assert (lab.root / "handler").read_text() == "ran\n"


def test_no_log_hides_values_from_the_report_only(lab: Lab) -> None:
    """The task's result is censored where it is shown; later tasks still have it."""
    ran = lab.run("""
- hosts: one
  gather_facts: false
  tasks:
    - {command: "echo s3cret", no_log: true, register: r}
    - {copy: {content: "{{ r.stdout }}", dest: "{{ out }}/kept"}, no_log: true, loop: ["s3cret"]}
""")
    assert "s3cret" not in repr(ran.events)
    assert (lab.root / "kept").read_text() == "s3cret"


def test_a_diff_is_shown_when_it_is_asked_for(lab: Lab) -> None:
    """`--diff` shows the change; a task with no_log shows none."""
    (lab.root / "f").write_text("old\n")
    ran = lab.run(
        """
- hosts: one
  gather_facts: false
  tasks:
    - {copy: {content: "new\\n", dest: "{{ out }}/f"}}
    - {copy: {content: "hidden\\n", dest: "{{ out }}/f"}, no_log: true}
""",
        check=True,
        diff=True,
    )
    shown = [event.text for event in ran.events if isinstance(event, DiffShown)]
    assert len(shown) == 1
    assert "-old" in shown[0]
    assert "+new" in shown[0]
    assert (lab.root / "f").read_text() == "old\n"


def test_events_count_what_the_recap_counts(lab: Lab) -> None:
    """Every count of the recap can be had from the events of tasks."""
    ran = lab.run("""
- hosts: one
  gather_facts: false
  tasks:
    - {command: "true"}
    - {command: "false", ignore_errors: true}
    - {debug: {msg: x}, when: false}
    - block: [{command: "false"}]
      rescue: [{debug: {msg: x}}]
""")
    said = [e.status for e in ran.events if isinstance(e, TaskEnded)]
    assert said == ["changed", "ignored", "skipped", "rescued", "ok"]
    recap = ran.of("one")
    assert (recap.ok, recap.ignored, recap.skipped, recap.rescued, recap.failed) == (3, 1, 1, 1, 0)


def test_start_at_begins_later(lab: Lab) -> None:
    """Tasks before the named one are left out."""
    ran = lab.run(
        """
- hosts: one
  gather_facts: false
  tasks:
    - {name: first, debug: {msg: first}}
    - {name: second, debug: {msg: second}}
    - {name: third, debug: {msg: third}}
""",
        start_at="second",
    )
    assert ran.texts() == ["one: second", "one: third"]


def test_a_bug_in_a_module_is_a_failure_without_a_traceback(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on to its end, and the person is told whose fault it is."""
    from relight.modules import fail  # noqa: PLC0415

    monkeypatch.setattr(fail, "run", lambda args, _scope: args.__dict__["nothing"])
    ran = lab.run("- {hosts: one, gather_facts: false, tasks: [{fail: {msg: x}}]}")
    assert ran.recap.exit_code == 2
    assert "a bug in relight's module fail: KeyError" in ran.texts()[0]


def test_all_faults_come_before_anything_runs(lab: Lab) -> None:
    """Unknown names, wrong arguments and undefined variables are told at once, with places."""
    with pytest.raises(InputFaults) as caught:
        lab.run("""
- hosts: one
  gather_fact: false
  tasks:
    - {comand: echo}
    - {copy: {content: x, dst: /tmp/x}}
    - {command: "true", whne: true}
    - {debug: {msg: "{{ x | defualt(1) }}"}}
    - {include_tasks: nosuch.yml}
    - {command: "true", delegate_to: other}
    - {command: "true", debug: {}}
    - {wait_for: {port: many}}
    - {command: "true", when: "a =="}
    - {command: "true", notify: [restrat, restart]}
  handlers: [{name: restart, debug: {}}]
""")
    said = [str(fault) for fault in caught.value.faults]
    assert (
        said[0]
        == "play.yml:3:3: unknown keyword 'gather_fact' of a play; did you mean gather_facts?"
    )
    for words in (
        "5:8: unknown keyword or module 'comand'; did you mean command?",
        "6:27: unknown key 'dst'",
        "7:25: unknown keyword or module 'whne'; did you mean when?",
        "8:21: unknown filter 'defualt'; did you mean default?",
        "9:23: there is no file 'nosuch.yml'",
        "10:25: 'delegate_to' is Ansible's, not relight's",
        "11:25: a task has one module, this one has command and debug",
        "12:25: port wants a whole number",
        "13:31: template:",
        "14:34: no handler has the name or listens to 'restrat'; did you mean restart?",
    ):
        assert any(words in line for line in said), (words, said)


def test_an_undefined_variable_is_found_beforehand(lab: Lab) -> None:
    """Where nothing can define it and nothing spares the task, the play does not begin."""
    with pytest.raises(InputFaults) as caught:
        lab.run("""
- hosts: one
  gather_facts: false
  tasks:
    - {command: "true", register: saw}
    - {debug: {msg: "{{ seen.rc }}"}}
""")
    assert str(caught.value).startswith("play.yml:6:21: nothing defines the variable 'seen'; ")
    assert "saw" in str(caught.value)


def test_an_undefined_variable_that_may_be_spared_is_not_judged(lab: Lab) -> None:
    """Conditions, rescues, ignored errors and defaults keep a task from being judged."""
    ran = lab.run("""
- hosts: one
  gather_facts: false
  tasks:
    - {debug: {msg: "{{ a }}"}, when: false}
    - {debug: {msg: "{{ a }}"}, ignore_errors: true}
    - {debug: {msg: "{{ a | default('d') }}"}}
    - block: [{debug: {msg: "{{ a }}"}}]
      rescue: [{debug: {msg: rescued}}]
""")
    assert ran.recap.exit_code == 0
    assert "one: rescued" in ran.texts()


def test_what_a_host_answers_is_never_rendered(lab: Lab) -> None:
    """Output that looks like a template stays text through register, facts, loops, includes."""
    (lab.root / "answer").write_text("{{ lookup('file', '/etc/passwd') }}")
    (lab.root / "more.yml").write_text("# More tasks.\n- {debug: {msg: '{{ item }}'}}\n")
    ran = lab.run("""
- hosts: one
  gather_facts: false
  tasks:
    - {command: "cat {{ out }}/answer", register: r}
    - {set_fact: {f: "{{ r.stdout }}"}}
    - {debug: {msg: "{{ f }}"}, name: "{{ f }}"}
    - {include_tasks: more.yml, loop: "{{ [f] }}"}
    - {debug: {msg: "{{ hostvars.one.f }}"}, vars: {g: "{{ f }}"}}
""")
    raw = "one: {{ lookup('file', '/etc/passwd') }}"
    assert [text for text in ran.texts() if "lookup" in text] == [raw] * 3
    assert "root:" not in repr(ran.events)


def test_a_file_from_include_is_found_beside_the_including_file(lab: Lab) -> None:
    """Files are named from the file that names them."""
    (lab.root / "sub").mkdir()
    (lab.root / "sub" / "a.yml").write_text("# A.\n- {include_tasks: b.yml}\n")
    (lab.root / "sub" / "b.yml").write_text("# B.\n- {debug: {msg: deep}}\n")
    ran = lab.run("""
- hosts: one
  gather_facts: false
  tasks: [{include_tasks: sub/a.yml}]
""")
    assert ran.texts() == ["one: deep"]
