"""What one verb acts on: a service on a host, with its preset, engine, launcher and store."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from relight import engines, launchers
from relight.connections import Connection
from relight.core.attempt import changed
from relight.core.engine import Engine
from relight.core.events import Event, Note
from relight.core.flags import FlagValue
from relight.core.launcher import Launcher
from relight.core.preset import Preset
from relight.core.service import HostSpec, Service
from relight.deploy.archive import Archive
from relight.errors import Interrupted, UsageError
from relight.project import Project
from relight.store.host_script import assemble
from relight.store.service import ServiceStore


@dataclass(frozen=True)
class Target:
    """A service on a host. `preset` has this deploy's `--set` and `--without` applied."""

    host: str
    name: str
    service: Service
    spec: HostSpec
    preset: Preset
    engine: Engine
    launcher: Launcher
    archive: Archive | None
    connection: Connection
    store: ServiceStore
    project: Project
    report: Callable[[Event], None]
    stopped: Callable[[], bool]

    def go_on(self) -> None:
        """Raise Interrupted when the operator said stop; long steps ask now and then."""
        if self.stopped():
            raise Interrupted(f"{self.host}: interrupted")

    def say(self, text: str, level: str = "info") -> None:
        """Tell the operator something about this service."""
        self.report(Note.model_validate({"level": level, "host": self.host, "text": text}))


def target_of(
    project: Project,
    host: str,
    name: str,
    connection: Connection,
    report: Callable[[Event], None],
    *,
    changes: Mapping[str, FlagValue | None] = {},
    without: tuple[str, ...] = (),
    stopped: Callable[[], bool] = lambda: False,
) -> Target:
    """Return the target; raises UsageError for a service or layer that does not exist."""
    spec = project.spec(host)
    if name not in spec.services:
        there = ", ".join(spec.services) or "none"
        raise UsageError(f"{host} has no service {name!r}; its services: {there}")
    service = spec.services[name]
    preset = tuned(project.preset(host, service.preset), changes, without)
    launcher = launchers.load(spec.launcher)
    return Target(
        host=host,
        name=name,
        service=service,
        spec=spec,
        preset=preset,
        engine=engines.load(preset.engine),
        launcher=launcher,
        archive=_archive(spec.engine.archive),
        connection=connection,
        store=ServiceStore(connection, spec.home, name, assemble(project.template, launcher)),
        project=project,
        report=report,
        stopped=stopped,
    )


def tuned(
    preset: Preset, changes: Mapping[str, FlagValue | None], without: tuple[str, ...]
) -> Preset:
    """Return a preset with one deploy's changes; raises UsageError for a layer it does not have."""
    unknown = [layer for layer in without if layer not in preset.layers]
    if unknown:
        there = ", ".join(preset.layers) or "none"
        raise UsageError(f"no layer {', '.join(unknown)} in the preset; its layers: {there}")
    layers = {name: layer for name, layer in preset.layers.items() if name not in without}
    return preset.model_copy(update={"flags": changed(preset.flags, changes), "layers": layers})


def _archive(name: str | None) -> Archive | None:
    if name is None:
        return None
    package, _, variant = name.partition(":")
    try:
        module = importlib.import_module(f"relight.{package}.archive")
    except ModuleNotFoundError:
        raise UsageError(f"relight_engine.archive: relight ships no {package!r}") from None
    try:
        return Archive(package, module.build(variant) if variant else module.build())
    except ValueError as error:
        raise UsageError(f"relight_engine.archive {name}: {error}") from None
