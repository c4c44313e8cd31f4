"""The strongest word of a variable is the one that Ansible would take."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relight.project.loader import load

Lay = Callable[[Mapping[str, str]], Path]

# Each place that can say `v` for the host `a`, from weak to strong; seen with ansible-core 2.19.
# `low` is a child of `top`; `x` and `y` lie beside each other.
ORDER = [
    "inline all",
    "inline x",
    "inline y",
    "inline low",
    "inventory/group_vars/all.yml",
    "playbooks/group_vars/all.yml",
    "inventory/group_vars/top.yml",
    "inventory/group_vars/x.yml",
    "inventory/group_vars/y.yml",
    "inventory/group_vars/low.yml",
    "playbooks/group_vars/top.yml",
    "playbooks/group_vars/low.yml",
    "inline host",
    "inventory/host_vars/a.yml",
    "playbooks/host_vars/a.yml",
    "extra",
]


def files_of(places: set[str]) -> dict[str, str]:
    """Return a project in which each of the places says its own name for `v`."""

    def said(place: str) -> str:
        return f"{{v: {place}}}" if place in places else "{}"

    hosts = f"""\
all:
  vars: {said("inline all")}
top: {{children: {{low: }}}}
low: {{vars: {said("inline low")}, hosts: {{a: }}}}
x: {{vars: {said("inline x")}, hosts: {{a: {said("inline host")}}}}}
y: {{vars: {said("inline y")}, hosts: {{a: }}}}
"""
    files = {place: f"v: {place}\n" for place in places if place.endswith(".yml")}
    return {**files, "inventory/hosts.yml": hosts, "playbooks/empty.yml": "[]\n"}


def value(root: Path, places: set[str]) -> object:
    """Return what `v` comes to on the host."""
    extra = ["v=extra"] if "extra" in places else []
    return load(root, extra_vars=extra).variables("a")["v"]


@pytest.mark.parametrize(("weak", "strong"), list(itertools.pairwise(ORDER)))
def test_of_two_neighbours_the_stronger_one_is_heard(weak: str, strong: str, lay: Lay) -> None:
    """Each place beats the one before it."""
    assert value(lay(files_of({weak, strong})), {weak, strong}) == strong


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sets(st.sampled_from(ORDER), min_size=1))
def test_the_strongest_of_any_places_is_heard(
    tmp_path_factory: pytest.TempPathFactory, places: set[str]
) -> None:
    """Whatever else says the same variable."""
    root = tmp_path_factory.mktemp("project")
    for name, text in files_of(places).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    assert value(root, places) == max(places, key=ORDER.index)


def test_a_folder_of_variables_is_read_in_the_order_of_names(lay: Lay) -> None:
    """Sub-folders too; hidden files, backups and other endings are left out."""
    root = lay(
        {
            "inventory/hosts.yml": "all: {hosts: {a: }}\n",
            "inventory/group_vars/all/10.yml": "v: 10\nw: 10\n",
            "inventory/group_vars/all/20.json": '{"v": 20}',
            "inventory/group_vars/all/30/x.yaml": "v: 30\n",
            "inventory/group_vars/all/.40.yml": "v: 40\n",
            "inventory/group_vars/all/50.yml~": "v: 50\n",
            "inventory/group_vars/all/60.txt": "v: 60\n",
        }
    )
    variables = load(root).variables("a")
    assert (variables["v"], variables["w"]) == (30, 10)


def test_of_several_endings_the_first_counts(lay: Lay) -> None:
    """No ending, .yml, .yaml, .json: as in Ansible one hides the others."""
    root = lay(
        {
            "inventory/hosts.yml": "all: {hosts: {a: }}\n",
            "inventory/host_vars/a.yml": "v: yml\n",
            "inventory/host_vars/a.json": '{"v": "json", "w": 1}',
        }
    )
    variables = load(root).variables("a")
    assert variables["v"] == "yml"
    assert "w" not in variables


def test_values_replace_each_other_whole(lay: Lay) -> None:
    """Mappings are not merged: Ansible's default."""
    root = lay(
        {
            "inventory/hosts.yml": "all: {vars: {d: {x: 1}}, hosts: {a: {d: {y: 2}}}}\n",
        }
    )
    assert load(root).variables("a")["d"] == {"y": 2}


def test_every_host_knows_its_name_and_groups(lay: Lay) -> None:
    """Ansible's own variables, which nothing can override."""
    root = lay({"inventory/hosts.yml": "web: {hosts: {a.example: {inventory_hostname: b}}}\n"})
    variables = load(root, extra_vars=["groups=x"]).variables("a.example")
    assert variables["inventory_hostname"] == "a.example"
    assert variables["inventory_hostname_short"] == "a"
    assert variables["group_names"] == ["web"]
    assert variables["groups"] == {"all": ["a.example"], "ungrouped": [], "web": ["a.example"]}


def test_variables_beside_a_playbook_outside_of_the_project_count(tmp_path: Path) -> None:
    """They are stronger than those of the same kind beside the inventory, as in Ansible."""
    for path, text in {
        "inv/hosts.yml": "all: {children: {g: {hosts: {h: {ansible_connection: local}}}}}\n",
        "inv/group_vars/g.yml": "a: inventory\nb: inventory\n",
        "inv/group_vars/all.yml": "c: inventory\n",
        "books/group_vars/all.yml": "a: playbook\nc: playbook\n",
        "books/group_vars/g.yml": "b: playbook\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    source = str(tmp_path / "inv" / "hosts.yml")
    project = load(tmp_path, [source], beside=[tmp_path / "books"])
    found = project.variables("h")
    assert [found[name] for name in "abc"] == ["inventory", "playbook", "playbook"]
