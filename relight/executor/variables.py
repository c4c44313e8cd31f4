"""The variables of one task on one host, level over level as in Ansible."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from relight.core.language.lazy import plain
from relight.core.language.missing import UndefinedName
from relight.core.language.playbook import Inherited, Play
from relight.core.language.templating import Templar, TemplateFault
from relight.executor.hosts import Host
from relight.executor.lookups import functions
from relight.executor.settings import Run

_NO_ROLES = (
    "role_names", "ansible_role_names", "ansible_play_role_names", "ansible_dependent_role_names",
)  # fmt: skip
VERSION = {"full": "2.19.0", "major": 2, "minor": 19, "revision": 0, "string": "2.19.0"}
"""The version of ansible-core whose semantics hold here."""


@dataclass(frozen=True)
class Batch:
    """The hosts of a play: all of them, and those of this batch."""

    play: Play
    everybody: tuple[str, ...]
    hosts: tuple[Host, ...]
    name: str
    """The play's name, rendered."""
    from_files: VarsOfFiles
    """The variables of `vars_files`."""

    def active(self) -> list[str]:
        """Return the hosts of the batch that neither failed nor are out of reach."""
        return [host.name for host in self.hosts if not (host.failed or host.unreachable)]


class VarsOfFiles(Protocol):
    """What the `vars_files` of a play say for a host, as far as its facts name the files."""

    def of(self, host: Host, levels: Callable[[], Levels]) -> Mapping[str, Any]:
        """Return the variables; `levels` are what the names of files may use."""


class Levels:
    """Variables from the weakest level to the strongest; some as written, some for good."""

    def __init__(self) -> None:
        self.written: dict[str, Any] = {}
        self.literal: dict[str, Any] = {}

    def add(self, values: Mapping[str, Any]) -> None:
        """Put variables that are still templates over what is there."""
        self.written.update(values)
        for name in self.literal.keys() & values.keys():
            del self.literal[name]

    def fix(self, values: Mapping[str, Any]) -> None:
        """Put values that are never rendered over what is there."""
        self.literal.update(values)  # a templar looks here first

    def templar(self) -> Templar:
        """Return what renders with these variables."""
        return Templar(self.written, self.literal)


def host_levels(host: Host) -> Levels:
    """Return what a host has by itself: inventory and facts."""
    levels = Levels()
    levels.add(host.inventory)
    levels.fix(host.facts)
    facts = {name.removeprefix("ansible_"): value for name, value in host.facts.items()}
    levels.fix({"ansible_facts": facts})
    return levels


def task_templar(
    run: Run,
    batch: Batch,
    host: Host,
    inherited: Inherited,
    loop: Mapping[str, Any] = {},
    extra: Mapping[str, Any] = {},
) -> Templar:
    """Return what renders a task on a host; `loop` and `extra` are values of this moment."""
    levels = host_levels(host)
    levels.add(batch.play.variables)
    if batch.play.vars_files:
        levels.add(batch.from_files.of(host, lambda: _play_levels(run, batch, host)))
    for values in inherited.variables:
        levels.add(values)
    levels.fix(host.learnt)
    for values in inherited.include:
        levels.add(values)
    for values in inherited.fixed:
        levels.fix(values)
    levels.add(run.settings.extra_vars)
    levels.fix(magic(run, batch, host))
    levels.fix(loop)
    levels.fix(extra)
    templar = levels.templar()
    found = {**functions(templar, batch.play.folder), "vars": Looked(templar)}
    levels.fix({name: value for name, value in found.items() if name not in templar})
    return templar


def _play_levels(run: Run, batch: Batch, host: Host) -> Levels:
    levels = host_levels(host)
    levels.add(batch.play.variables)
    levels.add(run.settings.extra_vars)
    levels.fix(magic(run, batch, host))
    return levels


def magic(run: Run, batch: Batch, host: Host) -> dict[str, Any]:
    """Return the variables that nothing can override."""
    settings, everybody = run.settings, list(batch.everybody)
    active = batch.active()
    return {
        **own_magic(host),
        "hostvars": HostVars(run),
        "ansible_play_name": batch.name,
        "ansible_play_hosts_all": everybody,
        "ansible_play_hosts": [
            name for name in everybody if not _gone(run.hosts.get(name))
        ],
        "ansible_play_batch": active,
        "play_hosts": active,
        "playbook_dir": batch.play.folder,
        "ansible_check_mode": settings.check,
        "ansible_diff_mode": settings.diff,
        "ansible_forks": settings.forks,
        "ansible_run_tags": list(settings.tags),
        "ansible_skip_tags": list(settings.skip_tags),
        "ansible_limit": settings.limit,
        "ansible_verbosity": 0,
        "ansible_version": VERSION,
        "ansible_playbook_python": sys.executable,
        "ansible_config_file": None,
        **{name: [] for name in _NO_ROLES},
    }  # fmt: skip


def _gone(host: Host | None) -> bool:
    if host is None:
        return False
    return host.failed or host.unreachable or (host.dropped and host.ended)


def own_magic(host: Host) -> dict[str, Any]:
    """Return the host's own names."""
    return {
        "inventory_hostname": host.name,
        "inventory_hostname_short": host.name.split(".", maxsplit=1)[0],
    }


class HostVars(Mapping[str, Any]):
    """`hostvars`: the variables of every host, rendered when they are looked up."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getitem__(self, name: str) -> Any:
        host = self._run.hosts[name]
        levels = host_levels(host)
        levels.fix(host.learnt)
        levels.add(self._run.settings.extra_vars)
        levels.fix(own_magic(host))
        return Looked(levels.templar())

    def __contains__(self, name: object) -> bool:
        return name in self._run.hosts

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.hosts)

    def __len__(self) -> int:
        return len(self._run.hosts)


class Looked(Mapping[str, Any]):
    """Variables by name, each rendered at its first look."""

    def __init__(self, templar: Templar) -> None:
        self._templar = templar

    def __getitem__(self, name: str) -> Any:
        if name not in self._templar:
            raise KeyError(name)
        return self._templar.look_up(name)

    def __contains__(self, name: object) -> bool:
        return name in self._templar

    def __iter__(self) -> Iterator[str]:
        return iter(self._templar.names() - {"omit"})

    def __len__(self) -> int:
        return len(self._templar.names() - {"omit"})


class Plain(Looked):
    """Variables by name for a module: plain values; raises `TemplateFault`."""

    def __getitem__(self, name: str) -> Any:
        try:
            return plain(super().__getitem__(name))
        except UndefinedName as error:
            raise TemplateFault(str(error), name=error.name, undefined=True) from None


def merged_environment(templar: Templar, entries: Iterable[Any]) -> dict[str, str]:
    """Return a task's environment: the innermost entry wins; raises `TemplateFault`."""
    environment: dict[str, str] = {}
    for entry in entries:
        rendered = templar.render(entry)
        for part in rendered if isinstance(rendered, list) else [rendered]:
            if not isinstance(part, Mapping):
                raise TemplateFault(f"environment wants a mapping, got {type(part).__name__}")
            environment |= {str(name): str(value) for name, value in part.items()}
    return environment
