"""The files of `vars_files`: their names may use facts, so they are looked up as facts come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relight.core.language.playbook import Play
from relight.core.language.templating import TemplateFault
from relight.executor.hosts import Host
from relight.executor.variables import Levels
from relight.project import Project
from relight.project.playbooks import load_vars


class VarsFiles:
    """The variables of one play's files, by host."""

    def __init__(self, project: Project, play: Play) -> None:
        self._project, self._play = project, play
        self._found: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}

    def of(self, host: Host, levels: Callable[[], Levels]) -> Mapping[str, Any]:
        """Return what the files say; raises `TemplateFault` and InputFaults.

        As in Ansible an entry whose name uses what is not known is left out until facts were
        gathered, and a fault from then on.
        """
        facts, values = self._found.get(host.name, (None, {}))
        if facts is not host.facts:
            values = self._read(host, levels())
            self._found[host.name] = (host.facts, values)
        return values

    def _read(self, host: Host, levels: Levels) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        for entry in self._play.vars_files:
            values = entry.values
            if values is None:
                levels.add(found)
                try:
                    values = self._first(entry.names, levels)
                except TemplateFault as fault:
                    if not fault.undefined or host.facts.get("module_setup"):
                        raise
                    values = {}
            found |= values
        return found

    def _first(self, names: tuple[str, ...], levels: Levels) -> Mapping[str, Any]:
        for name in names:
            shown = str(levels.templar().render(name))
            values = load_vars(self._project, shown, self._play.folder)
            if values is not None:
                return values
        return {}
