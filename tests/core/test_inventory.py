"""Groups, their depths and their hosts stand as Ansible puts them."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from relight.core.inventory import Group, Inventory, cycle


def group(name: str, hosts: str = "", children: str = "", priority: int = 1) -> Group:
    """Return a group from names with blanks between them."""
    return Group(name, dict.fromkeys(hosts.split()), dict.fromkeys(children.split()), priority)


def inventory(hosts: str, *groups: Group) -> Inventory:
    """Return an inventory of some hosts and groups."""
    return Inventory(hosts.split(), {one.name: one for one in groups})


def test_every_group_lies_under_all_and_a_lonely_host_in_ungrouped() -> None:
    """Also a group that no other one mentions."""
    found = inventory("a b", group("x", "a"), group("all", "b"))
    assert found.members("all") == ("b", "a")
    assert found.members("ungrouped") == ("b",)
    assert found.groups_of("b") == ("ungrouped",)
    assert found.everybody == {"all": ["b", "a"], "ungrouped": ["b"], "x": ["a"]}


def test_a_host_that_is_in_a_group_leaves_ungrouped() -> None:
    """Even where a file puts it there by hand."""
    found = inventory("a", group("ungrouped", "a"), group("x", "a"))
    assert found.members("ungrouped") == ()


def test_depth_is_the_longest_way_from_all() -> None:
    """A group that is a child and a grandchild is a grandchild."""
    found = inventory("a", group("x", children="y z"), group("y", children="z"), group("z", "a"))
    assert [found.depth(name) for name in ("all", "x", "y", "z")] == [0, 1, 2, 3]


def test_deeper_groups_count_more_then_priority_then_the_alphabet() -> None:
    """The order in which variables of groups are laid over each other."""
    found = inventory(
        "a",
        group("top", children="low"),
        group("low", "a"),
        group("b", "a"),
        group("c", "a"),
        group("aa", "a", priority=5),
    )
    assert found.groups_of("a") == ("b", "c", "top", "aa", "low")


def test_a_circle_of_groups_is_named() -> None:
    """Its names in order, the first one again at the end."""
    groups = {
        one.name: one for one in (group("a", children="b"), group("b", children="c a"), group("c"))
    }
    assert cycle(groups) == ("a", "b", "a")
    del groups["b"].children["a"]
    assert cycle(groups) == ()


EDGES = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@given(EDGES)
def test_a_circle_is_found_exactly_when_there_is_one(edges: set[tuple[int, int]]) -> None:
    """Compared with taking away groups without children until none is left."""
    groups = {f"g{n}": Group(f"g{n}") for n in range(7)}
    for parent, child in edges:
        groups[f"g{parent}"].children[f"g{child}"] = None
    left = {name: set(one.children) for name, one in groups.items()}
    while free := [name for name, children in left.items() if not children]:
        for name in free:
            del left[name]
        for children in left.values():
            children.difference_update(free)
    found = cycle(groups)
    assert bool(found) == bool(left)
    if found:
        assert found[0] == found[-1]
        assert all(b in groups[a].children for a, b in itertools.pairwise(found))


@given(EDGES)
def test_a_child_is_always_deeper_than_its_parents(edges: set[tuple[int, int]]) -> None:
    """So that its variables win."""
    groups = {f"g{n}": Group(f"g{n}", {f"h{n}": None}) for n in range(7)}
    for parent, child in edges:
        if parent < child:
            groups[f"g{parent}"].children[f"g{child}"] = None
    found = Inventory([f"h{n}" for n in range(7)], groups)
    for name, one in found.groups.items():
        assert all(found.depth(child) > found.depth(name) for child in one.children)
        assert all(name in {*found.groups_of(host), "all"} for host in found.members(name))
