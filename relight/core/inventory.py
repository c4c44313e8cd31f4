"""Hosts and groups: who belongs where, how deep a group lies, and in which order all that counts.

The rules are Ansible's (seen with ansible-core 2.19): every group lies under `all`, a host in no
other group lies in `ungrouped`, and where two groups say the same variable the deeper one wins,
then the higher `ansible_group_priority`, then the later name of the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

ALL, UNGROUPED = "all", "ungrouped"


@dataclass
class Group:
    """One group while it is being read: its own hosts and child groups, in order."""

    name: str
    hosts: dict[str, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)
    priority: int = 1


class Inventory:
    """Hosts and groups that were read, in the order in which they were read."""

    def __init__(self, hosts: Iterable[str], groups: Mapping[str, Group]) -> None:
        """Take what was read and put it under `all` and `ungrouped`; there must be no cycle."""
        self.hosts = tuple(dict.fromkeys(hosts))
        self.groups = _settled(self.hosts, groups)

    def members(self, group: str) -> tuple[str, ...]:
        """Return the hosts of a group and of all groups below it, its own first."""
        found: dict[str, None] = {}
        for name in self._below(group):
            found |= self.groups[name].hosts
        return tuple(found)

    def groups_of(self, host: str) -> tuple[str, ...]:
        """Return a host's groups without `all`, those first whose variables count least."""
        return self._groups_of[host]

    @cached_property
    def everybody(self) -> dict[str, list[str]]:
        """Return the hosts of every group: Ansible's variable `groups`."""
        return {name: list(self.members(name)) for name in self.groups}

    def depth(self, group: str) -> int:
        """Return how many steps the longest way from `all` to a group has."""
        return self._depths[group]

    @cached_property
    def _depths(self) -> dict[str, int]:
        depths = dict.fromkeys(self.groups, 0)
        for name in reversed(_children_first(self.groups)):
            for child in self.groups[name].children:
                depths[child] = max(depths[child], depths[name] + 1)
        return depths

    @cached_property
    def _groups_of(self) -> dict[str, tuple[str, ...]]:
        above: dict[str, set[str]] = {host: set() for host in self.hosts}
        for name, hosts in self.everybody.items():
            for host in hosts:
                above[host].add(name)

        def weight(name: str) -> tuple[int, int, str]:
            return self._depths[name], self.groups[name].priority, name

        return {host: tuple(sorted(names - {ALL}, key=weight)) for host, names in above.items()}

    def _below(self, group: str) -> Iterator[str]:
        """Return a group and those below it, level by level."""
        level, seen = [group], {group}
        while level:
            yield from level
            children = dict.fromkeys(c for name in level for c in self.groups[name].children)
            level = [child for child in children if child not in seen]
            seen |= children.keys()


def cycle(groups: Mapping[str, Group]) -> tuple[str, ...]:
    """Return the names along a circle of groups, first one repeated at the end; () if none."""
    done: set[str] = set()
    for start in groups:
        path: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = []
        here: str | None = start
        while here is not None or stack:
            if here is not None and here in path:
                return (*path[path.index(here) :], here)
            if here is not None and here not in done:
                path.append(here)
                stack.append((here, iter(groups[here].children if here in groups else ())))
            if not stack:
                break
            here = next(stack[-1][1], None)
            if here is None:
                done.add(stack.pop()[0])
                path.pop()
    return ()


def _settled(hosts: tuple[str, ...], groups: Mapping[str, Group]) -> dict[str, Group]:
    settled = {name: Group(name) for name in (ALL, UNGROUPED)}
    settled[ALL].children[UNGROUPED] = None
    for group in groups.values():
        one = settled.setdefault(group.name, Group(group.name))
        one.hosts |= group.hosts
        one.children |= group.children
        one.priority = group.priority
    below = {child for group in settled.values() for child in group.children}
    for name in settled:
        if name != ALL and name not in below:
            settled[ALL].children[name] = None
    grouped = {
        host
        for name, group in settled.items()
        if name not in (ALL, UNGROUPED)
        for host in group.hosts
    }
    settled[UNGROUPED].hosts = {
        **{host: None for host in settled[UNGROUPED].hosts if host not in grouped},
        **{host: None for host in hosts if host not in grouped},
    }
    return settled


def _children_first(groups: Mapping[str, Group]) -> list[str]:
    order: dict[str, None] = {}
    stack = [(ALL, False)]
    while stack:
        name, ready = stack.pop()
        if ready:
            order[name] = None
        elif name not in order:
            stack.append((name, True))
            stack += [(child, False) for child in groups[name].children]
    return list(order)
