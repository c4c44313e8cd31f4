"""Inventory sources come to the hosts, groups and variables that Ansible reads in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from relight.project.files import Files
from relight.project.inventory_source import Sources

Lay = Callable[[Mapping[str, str]], Path]


def taken(*sources: str) -> tuple[Sources, Files]:
    """Return what sources came to."""
    files = Files()
    found = Sources(files)
    for source in sources:
        found.take(source)
    return found, files


def test_groups_nest_and_hosts_carry_variables(lay: Lay) -> None:
    """The YAML shape of Ansible's documentation."""
    lay(
        {
            "hosts.yml": """
            all:
              hosts:
                solo: {x: 1}
              vars: {y: 2}
              children:
                gpu:
                  children:
                    big: {hosts: {"box[01:02]": {z: 3}}}
                spare:
            """
        }
    )
    found, files = taken("hosts.yml")
    assert files.faults == []
    inventory = found.inventory()
    assert inventory is not None
    assert inventory.hosts == ("solo", "box01", "box02")
    assert inventory.members("gpu") == ("box01", "box02")
    assert found.group_variables["all"]["y"].value == 2
    assert found.host_variables["box02"]["z"].origin == "hosts.yml:9"


def test_json_of_a_dynamic_inventory(lay: Lay) -> None:
    """What `ansible-inventory --list` and inventory scripts print."""
    lay(
        {
            "hosts.json": json.dumps(
                {
                    "_meta": {"hostvars": {"a": {"x": 1}, "c": {}}},
                    "all": {"children": ["ungrouped", "web"]},
                    "web": {"hosts": ["a", "b"], "vars": {"v": 1}},
                    "short": ["c"],
                }
            )
        }
    )
    found, files = taken("hosts.json")
    assert files.faults == []
    inventory = found.inventory()
    assert inventory is not None
    assert inventory.members("web") == ("a", "b")
    assert inventory.members("short") == ("c",)
    assert found.host_variables["a"]["x"].value == 1


def test_later_sources_win_and_add(lay: Lay) -> None:
    """Several -i options make one inventory; a comma makes a list of hosts."""
    lay(
        {
            "one.yml": "all: {hosts: {a: {x: 1, y: 1}}}\n",
            "two/b.yml": "all: {hosts: {a: {x: 3}}}\n",
            "two/a.yaml": "all: {hosts: {a: {x: 2}}}\n",
            "two/presets/p.yml": "model: m\n",
            "two/group_vars/all.yml": "g: 1\n",
            "two/notes.md": "no inventory\n",
            "two/.hidden.yml": "[\n",
        }
    )
    found, files = taken("one.yml", "two", "d1, d2")
    assert files.faults == []
    values = {name: item.value for name, item in found.host_variables["a"].items()}
    assert values == {"x": 3, "y": 1}
    assert list(found.hosts) == ["a", "d1", "d2"]


def test_a_port_behind_a_host_is_its_port(lay: Lay) -> None:
    """`box:2222` sets ansible_port, and the host's own variable wins."""
    lay({"h.yml": 'all: {hosts: {"a:22": , "b:22": {ansible_port: 23}}}\n'})
    found, _ = taken("h.yml")
    assert found.host_variables["a"]["ansible_port"].value == 22
    assert found.host_variables["b"]["ansible_port"].value == 23


def test_priority_is_no_variable(lay: Lay) -> None:
    """ansible_group_priority orders groups and is seen by nobody."""
    lay({"h.yml": "web: {vars: {ansible_group_priority: 7, a: 1}}\n"})
    found, _ = taken("h.yml")
    assert found.groups["web"].priority == 7
    assert list(found.group_variables["web"]) == ["a"]


FAULTS = [
    ("web: {hots: {a: }}", 1, 7, "unknown key 'hots' in the group web; did you mean hosts?"),
    ("web: {hosts: 5}", 1, 14, "hosts wants a mapping"),
    ("web: text", 1, 6, "wants a mapping of vars, children and hosts"),
    ("web: {hosts: {a: text}}", 1, 18, "the host a wants a mapping"),
    ("web: {vars: {a-b: 1}}", 1, 14, "'a-b' is no name of a variable"),
    ("web: {vars: {ansible_group_priority: x}}", 1, 38, "wants a whole number"),
    ("web: {hosts: {'box[1:]': }}", 1, 15, "no end"),
    ("web: {hosts: {'-oProxyCommand=id': }}", 1, 15, "no host name"),
    ("'we b': {}", 1, 1, "no name of a group"),
    ("'!web': {}", 1, 1, "no name of a group"),
    ("web: {children: {all: }}", 1, 18, "cannot lie inside"),
    ("a: {children: {b: }}\nb: {children: {c: }}\nc: {children: {a: }}", 3, 16, "a > b > c > a"),
    ("- a\n", 1, 1, "mapping at its top"),
]


@pytest.mark.parametrize(("text", "line", "column", "words"), FAULTS)
def test_what_is_wrong_in_an_inventory_is_a_fault(
    text: str, line: int, column: int, words: str, lay: Lay
) -> None:
    """With its place and in words."""
    lay({"h.yml": text})
    found, files = taken("h.yml")
    found.inventory()
    (fault,) = files.faults
    assert (fault.line, fault.column) == (line, column)
    assert words in str(fault)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("hosts", "[web]\na\n", "INI inventory"),
        ("hosts.ini", "a\n", "INI inventory"),
        ("hosts.yml", "# x\n\n[web:vars]\na=1\n", "INI inventory"),
        ("hosts.sh", "#!/bin/sh\necho {}\n", "is a script"),
    ],
)
def test_what_ansible_reads_and_relight_does_not_is_named(
    name: str, text: str, words: str, lay: Lay
) -> None:
    """With the command that converts it."""
    lay({name: text})
    _, files = taken(name)
    (fault,) = files.faults
    assert words in fault.what
    assert "ansible-inventory" in fault.right


def test_a_flow_list_at_the_top_is_no_ini_file(lay: Lay) -> None:
    """`[a, b]` is YAML, though no inventory."""
    lay({"h.yml": "[a: b]\n"})
    _, files = taken("h.yml")
    assert "mapping at its top" in files.faults[0].what


def test_a_source_that_is_not_there_is_a_fault(lay: Lay) -> None:
    """A misspelt -i is no empty inventory."""
    lay({})
    _, files = taken("nowhere.yml")
    assert "no such inventory" in files.faults[0].what
