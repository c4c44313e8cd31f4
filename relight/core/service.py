"""Services: the one place that binds a host, a preset, a port and GPUs (`relight_services`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from relight.core.engine import EngineSpec
from relight.core.model import Frozen

ServiceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]


class Service(Frozen):
    """One server on one host; port 0 asks for a free one, chosen at the first deploy."""

    preset: str
    port: int = Field(ge=0, le=65535)
    gpus: tuple[Annotated[int, Field(ge=0)], ...] = ()


class DeclaredGpu(Frozen):
    """A GPU model as the inventory declares it, for planning without hardware."""

    name: str
    count: int = Field(default=1, ge=1)
    memory_gb: float = Field(gt=0)
    link: str = ""


class HostSpec(Frozen):
    """What relight itself reads of a host's variables."""

    name: str
    engine: EngineSpec
    launcher: str = "process"
    gpus: tuple[DeclaredGpu, ...] = ()
    services: dict[ServiceName, Service] = {}
    home: str = "~/.relight"


def overlaps(services: Mapping[str, Service]) -> tuple[tuple[str, str, str], ...]:
    """Return pairs of services that want the same port or GPU: (first, second, what)."""
    found: list[tuple[str, str, str]] = []
    items = list(services.items())
    for index, (first, one) in enumerate(items):
        for second, two in items[index + 1 :]:
            if one.port and one.port == two.port:
                found.append((first, second, f"port {one.port}"))
            shared = sorted(set(one.gpus) & set(two.gpus))
            if shared:
                found.append((first, second, f"GPU {', '.join(map(str, shared))}"))
    return tuple(found)
