"""A whole project: all faults of all files in one run, and what a sound one comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from relight.errors import Fault, InputFaults, UsageError
from relight.project import Project
from relight.project.loaded import HIDDEN
from relight.project.loader import load

Lay = Callable[[Mapping[str, str]], Path]
HOSTS = """\
all:
  children:
    gpu:
      hosts:
        one: {ansible_host: 192.0.2.1}
        two: {ansible_host: 192.0.2.2}
"""
GROUP = """\
models: /srv/models
relight_engine: {python: python3}
relight_services: {main: {preset: good, port: 30000}}
"""
GOOD = 'model: "{{ models }}/m"\nserved_name: s\n'
SOUND = {
    "inventory/hosts.yml": HOSTS,
    "inventory/group_vars/gpu.yml": GROUP,
    "inventory/presets/good.yml": GOOD,
}


def faults(root: Path) -> tuple[Fault, ...]:
    """Return what is wrong with a project."""
    with pytest.raises(InputFaults) as caught:
        load(root)
    return caught.value.faults


def places(found: tuple[Fault, ...]) -> list[tuple[str, int, int]]:
    """Return the places of faults."""
    return [(fault.file, fault.line, fault.column) for fault in found]


def test_a_syntax_error_and_four_faults_of_other_files_show_in_one_run(lay: Lay) -> None:
    """Each with its line and column; what the broken file may define is not blamed on others."""
    root = lay(
        {
            **SOUND,
            "inventory/group_vars/all.yml": "shared: 1\nlist: [1, 2\nmore: 3\n",
            "inventory/presets/one.yml": 'model: "{{ shared }}"\nserved_name: s\nlayrs: {}\n',
            "inventory/presets/two.yml": "model: m\nserved_name: s\nattempts: many\n",
            "inventory/presets/three.yml": 'model: "{{ modles }}/m"\nserved_name: s\n',
            "inventory/host_vars/two.yml": "relight_services: {main: {preset: goud, port: 1}}\n",
        }
    )
    found = faults(root)
    assert places(found) == [
        ("inventory/group_vars/all.yml", 2, 7),
        ("inventory/host_vars/two.yml", 1, 35),
        ("inventory/presets/one.yml", 3, 1),
        ("inventory/presets/three.yml", 1, 8),
        ("inventory/presets/two.yml", 3, 11),
    ]
    words = ["never closed", "did you mean good?", "did you mean layers?", "did you mean models?"]
    assert all(word in str(fault) for word, fault in zip(words, found, strict=False))
    assert "attempts wants a whole number, got 'many'" in str(found[4])


def test_a_broken_inventory_does_not_hide_the_faults_of_other_files(lay: Lay) -> None:
    """Hosts are then guessed from host_vars."""
    root = lay(
        {
            **SOUND,
            "inventory/hosts.yml": HOSTS + "  vars: [\n",
            "inventory/host_vars/two.yml": (
                "relight_services: {main: {preset: goud, port: 1}}\n"
                "relight_enigne: {}\n"
                "x: '{{ nobody }}'\n"
            ),
            "inventory/presets/three.yml": 'model: "{{ modles }}/m"\nserved_name: s\n',
        }
    )
    assert places(faults(root)) == [
        ("inventory/host_vars/two.yml", 1, 35),
        ("inventory/host_vars/two.yml", 2, 1),
        ("inventory/host_vars/two.yml", 3, 4),
        ("inventory/hosts.yml", 7, 9),
        ("inventory/presets/three.yml", 1, 8),
    ]


def test_a_fault_that_hosts_share_is_told_once(lay: Lay) -> None:
    """With the hosts that have it."""
    root = lay({**SOUND, "inventory/presets/good.yml": GOOD.replace("models", "modles")})
    (fault,) = faults(root)
    assert fault.what == "'modles' is undefined (on one, two)"


def test_an_undefined_name_is_told_where_it_is_written(lay: Lay) -> None:
    """Not at the place that looked the variable up."""
    root = lay({**SOUND, "inventory/group_vars/gpu.yml": GROUP.replace("/srv", "{{ nobody }}")})
    (fault,) = faults(root)
    assert (fault.file, fault.line, fault.column) == ("inventory/group_vars/gpu.yml", 1, 9)


def test_a_name_that_a_playbook_defines_is_no_fault(lay: Lay) -> None:
    """Variables are rendered when they are needed; `register` and `set_fact` define names."""
    root = lay(
        {
            **SOUND,
            "inventory/group_vars/all.yml": "late: '{{ answer.stdout }}'\n",
            "playbooks/x.yml": "- hosts: all\n  tasks: [{command: id, register: answer}]\n",
        }
    )
    assert load(root).variables("one")["late"] == "{{ answer.stdout }}"


def test_a_template_with_wrong_syntax_is_a_fault_even_where_nobody_uses_it(lay: Lay) -> None:
    """`!unsafe` is the way to write braces that are no template."""
    root = lay({**SOUND, "inventory/group_vars/all.yml": "a: 1\nb: '{{ x'\nc: !unsafe '{{ y'\n"})
    (fault,) = faults(root)
    assert (fault.line, fault.column) == (2, 4)
    assert "template syntax" in fault.what


def test_a_sound_project(lay: Lay) -> None:
    """Hosts by pattern, addresses, specs and presets rendered per host."""
    project: Project = load(lay({**SOUND, "inventory/host_vars/two.yml": "models: /mnt\n"}))
    assert project.hosts("gpu:!one") == ("two",)
    assert project.address("one").host == "192.0.2.1"
    assert project.spec("one").services["main"].port == 30000
    assert project.preset("one", "good").model == "/srv/models/m"
    assert project.preset("two", "good").model == "/mnt/m"
    assert project.presets["good"].model == "{{ models }}/m"


def test_extra_variables_are_the_strongest(lay: Lay) -> None:
    """They change what presets come to."""
    project = load(lay(SOUND), extra_vars=["models=/tmp"])
    assert project.preset("one", "good").model == "/tmp/m"


def test_the_report_says_each_value_and_its_line(lay: Lay) -> None:
    """Rendered where that is possible; secrets are not shown."""
    text = GROUP + "where: '{{ models }}/x'\nhf_token: abc\nlogins: {db: {password: x}}\n"
    project = load(lay({**SOUND, "inventory/group_vars/gpu.yml": text}), extra_vars=["e=1"])
    report = {line.name: line for line in project.inventory_report("one")}
    assert report["ansible_host"].origin == "inventory/hosts.yml:5"
    assert (report["where"].value, report["where"].written) == ("/srv/models/x", "{{ models }}/x")
    assert report["hf_token"].value == HIDDEN
    assert report["logins"].value == {"db": {"password": HIDDEN}}
    assert report["e"].origin == "--extra-vars"
    assert report["inventory_hostname"].origin == "(built in)"


def test_a_host_without_variables_of_relight_is_no_fault_until_it_is_asked(lay: Lay) -> None:
    """An inventory that Ansible shares holds other hosts too."""
    hosts = HOSTS + "    other: {hosts: {router: }}\n"
    project = load(lay({**SOUND, "inventory/hosts.yml": hosts}))
    assert project.address("router").connection == "ssh"
    with pytest.raises(InputFaults, match="relight_engine is missing on router"):
        project.spec("router")


def test_what_does_not_exist_is_named(lay: Lay) -> None:
    """Hosts, presets and templates, with the one that was probably meant."""
    project = load(lay({**SOUND, "templates/own.sh": "echo\n"}))
    with pytest.raises(UsageError, match="did you mean one"):
        project.spec("onee")
    with pytest.raises(UsageError, match="did you mean good"):
        project.preset("one", "goood")
    with pytest.raises(InputFaults, match=r"did you mean own\.sh"):
        project.template("ownn.sh")
    assert project.template("own.sh") == "echo\n"
    with pytest.raises(InputFaults, match="no name inside of templates/"):
        project.template("../inventory/hosts.yml")


def test_presets_are_read_where_services_are(lay: Lay) -> None:
    """A project without services reads no shipped preset; one that names a service has them."""
    plain = {"inventory/hosts.yml": "all: {hosts: {box: {ansible_connection: local}}}\n"}
    assert not load(lay(plain)).presets
    serving = """
all:
  hosts:
    box:
      ansible_connection: local
      relight_engine: {python: python3}
      relight_launcher: process
      relight_services: {main: {preset: sandbox, port: 30000}}
"""
    assert "sandbox" in load(lay({"inventory/hosts.yml": serving})).presets


def test_the_shipped_inventory_is_sound(lay: Lay) -> None:
    """An empty folder works with what relight brings along."""
    project = load(lay({}))
    assert set(project.hosts("all")) == {"sandbox", "ct129"}
    assert project.address("sandbox").connection == "local"
    assert project.spec("ct129").services["main"].gpus == (0, 1)
    assert {"sandbox", "qwen3.6-27b", "qwen3.6-27b-0.5.23"} <= set(project.presets)
    assert project.preset("ct129", "qwen3.6-27b").flags["tp-size"] == 2
