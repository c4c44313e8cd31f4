"""A project with one more service on every host: the stand-in, for a fire drill beside the real."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from relight.core.address import Address
from relight.core.engine import EngineSpec
from relight.core.preset import Preset
from relight.core.service import HostSpec, Service
from relight.errors import UsageError
from relight.project import Project, Shown
from relight.standin.scenarios import choice

SERVICE = "rehearsal"
MARK = "random-seed"
"""The flag that only the second deploy of a drill gives: scenarios play where it is given."""
_BOTH = frozenset({"drain_never_ends", "stop_ignored", "slow_drain"})
_PRESET: dict[str, Any] = {
    "model": "standin/rehearsal",
    "served_name": "rehearsal",
    "description": "A fire drill with the stand-in engine",
    "flags": {"context-length": 4096, "mem-fraction-static": 0.5},
    "layers": {"mixed-chunk": {"flags": {"enable-mixed-chunk": True}, "why": "may be dropped"}},
    "fallbacks": [
        {
            "on": "oom_graph_capture",
            "adjust": {"mem-fraction-static": {"by": -0.05, "to": 0.4, "times": 2}},
        }
    ],
    "readiness": {"within": "2m", "stall": "20s", "settle": "3s", "answer": "15s"},
    "attempts": 4,
    "max_downtime": "5m",
    "drain": "5s",
    "benchmark": {"requests": 1, "max_tokens": 64},
}


def plays(scenario: str) -> str:
    """Return what the stand-in is told to play; raises UsageError for what it does not know.

    What strikes a server that is stopped plays from the first deploy on, the rest in the second.
    """
    try:
        asked = choice.read(scenario)
    except ValueError as error:
        raise UsageError(f"--scenario {scenario}: {error}") from None
    if not asked:
        raise UsageError("rehearse needs --scenario: a name of docs/scenarios.md, e.g. oom_capture")
    parts = [part.strip() for part in scenario.split(",") if part.strip()]
    return ",".join(
        part if one.scenario.name in _BOTH else f"{part}:when={MARK}"
        for part, one in zip(parts, asked, strict=True)
    )


class Rehearsal:
    """A project as it is, but for one service `rehearsal` in a folder of its own on each host."""

    def __init__(self, project: Project, scenario: str, speed: float = 1.0) -> None:
        self.root = project.root
        self.presets = project.presets
        self.project = project
        self._env = {
            "RELIGHT_STANDIN_SPEED": f"{speed:g}",
            "RELIGHT_STANDIN_SCENARIO": scenario,
        }

    def hosts(self, pattern: str, missing: list[str] | None = None) -> tuple[str, ...]:
        """Return the project's hosts."""
        return self.project.hosts(pattern, missing)

    def variables(self, host: str) -> Mapping[str, Any]:
        """Return a host's variables, and the folder of the rehearsal."""
        return {**self.project.variables(host), "rehearsal_home": self.spec(host).home}

    def extra_variables(self) -> Mapping[str, Any]:
        """Return the project's own."""
        return self.project.extra_variables()

    def spec(self, host: str) -> HostSpec:
        """Return the host with the stand-in as its engine, started as a plain process."""
        real = self.project.spec(host)
        if SERVICE in real.services:
            raise UsageError(f"{host} has a service {SERVICE!r} of its own: rename it to rehearse")
        return real.model_copy(
            update={
                "engine": EngineSpec(python="python3", archive="standin", env=self._env),
                "launcher": "process",
                "home": f"{real.home.rstrip('/')}/{SERVICE}",
                "services": {**real.services, SERVICE: Service(preset=SERVICE, port=0)},
            }
        )

    def preset(self, host: str, name: str) -> Preset:
        """Return the drill's own preset, or one of the project's."""
        if name == SERVICE:
            return Preset.model_validate(_PRESET)
        return self.project.preset(host, name)

    def address(self, host: str) -> Address:
        """Return how the host is reached."""
        return self.project.address(host)

    def playbook(self, name: str) -> Path:
        """Return a playbook of the project, else the shipped one."""
        return self.project.playbook(name)

    def inventory_report(self, host: str) -> tuple[Shown, ...]:
        """Return the project's report."""
        return self.project.inventory_report(host)

    def secrets(self, host: str, preset: str) -> Mapping[str, str]:
        """Return no secret for the drill."""
        return {} if preset == SERVICE else self.project.secrets(host, preset)

    def hide(self, values: Iterable[str]) -> None:
        """Show none of these values from now on."""
        self.project.hide(values)

    def template(self, name: str) -> str:
        """Return a template of the project, else the shipped one."""
        return self.project.template(name)
