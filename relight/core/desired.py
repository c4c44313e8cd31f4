"""What is wanted of one service, and the release that one recipe of it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relight.core.attempt import Recipe, flags_of
from relight.core.engine import Engine, EngineSpec, ServerRequest
from relight.core.model import Frozen
from relight.core.preset import Preset
from relight.core.release import Given, Release, digest, release_id
from relight.core.service import Service


class Wanted(Frozen):
    """Everything that decides a server, with paths as on the host; `~/` is resolved already."""

    service_name: str
    service: Service
    port: int
    preset_name: str
    preset: Preset
    spec: EngineSpec
    engine_version: str
    launcher: str
    template: str

    @property
    def asked(self) -> str:
        """Return the hash of what is asked for: equal hashes need no deploy."""
        preset = self.preset
        return digest(
            self.service_name,
            self.port,
            self.service.gpus,
            self.preset_name,
            preset.engine,
            preset.model,
            preset.served_name,
            list(preset.flags.items()),
            [(name, layer.flags) for name, layer in preset.layers.items() if layer.enabled],
            {name: str(value) for name, value in preset.env.items()},
            {name: str(value) for name, value in preset.secret_flags.items()},
            self.spec.model_dump(),
            self.engine_version,
            self.launcher,
            self.template,
        )

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the names of variables whose values are read by reference."""
        return tuple(name for name, value in self.preset.env.items() if not isinstance(value, str))

    @property
    def secret_flags(self) -> tuple[str, ...]:
        """Return the names of flags whose values are read by reference."""
        return tuple(self.preset.secret_flags)

    def environment(self, recipe: Recipe) -> dict[str, str]:
        """Return the variables that launch.sh sets; no secret is among them."""
        values = dict(self.spec.env)
        if self.spec.archive is not None:
            values["PYTHONPATH"] = self.spec.archive
        if self.service.gpus:
            values["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
            values["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, self.service.gpus))
        values |= {n: v for n, v in self.preset.env.items() if isinstance(v, str)}
        return values | recipe.env

    def request(self, recipe: Recipe) -> ServerRequest:
        """Return what the engine's command line is made from."""
        return ServerRequest(
            spec=self.spec,
            model=self.preset.model,
            served_name=self.preset.served_name,
            port=self.port,
            flags=flags_of(self.preset, recipe),
        )

    def launch_variables(self, engine: Engine, recipe: Recipe) -> dict[str, Any]:
        """Return the names that templates/launch.sh.j2 may use."""
        return {
            "environment": self.environment(recipe),
            "secrets": list(self.secrets),
            "argv": list(engine.command(self.request(recipe))),
            "secret_file": engine.secret_file.model_dump() if self.secret_flags else None,
        }


def release_of(
    wanted: Wanted,
    engine: Engine,
    recipe: Recipe,
    launch_sh: bytes,
    *,
    known: tuple[str, ...],
    gave_up: tuple[Given, ...] = (),
    origin: Mapping[str, str] = {},
) -> Release:
    """Return the lockfile for a rendered launch.sh; `origin` says who, when and from where.

    `known` are the releases that the host has: equal bytes keep their name, new ones get the next.
    """
    return Release(
        id=release_id(known, wanted.preset_name, launch_sh, wanted.asked),
        asked=wanted.asked,
        service=wanted.service_name,
        preset=wanted.preset_name,
        engine=wanted.preset.engine,
        engine_version=wanted.engine_version,
        model=wanted.preset.model,
        served_name=wanted.preset.served_name,
        port=wanted.port,
        gpus=wanted.service.gpus,
        launcher=wanted.launcher,
        recipe=recipe,
        flags=flags_of(wanted.preset, recipe),
        argv=engine.command(wanted.request(recipe)),
        env=wanted.environment(recipe),
        secrets=wanted.secrets,
        secret_flags=wanted.secret_flags,
        gave_up=gave_up,
        within=wanted.preset.readiness.within,
        **origin,
    )
