"""What a host is: read from untrusted text, one fact a line."""

from __future__ import annotations

import re

from relight.core.model import Frozen
from relight.core.observed import number


class Gpu(Frozen):
    """One GPU as the driver tells it; memory in MiB, None where it does not say."""

    index: int
    name: str
    uuid: str = ""
    memory_mib: int | None = None
    used_mib: int | None = None
    compute: str = ""
    driver: str = ""
    link_gen: int | None = None
    link_gen_max: int | None = None
    link_width: int | None = None
    link_width_max: int | None = None
    busy_percent: int | None = None


class GpuHolder(Frozen):
    """A process with an open GPU device."""

    index: int
    pid: int
    command: str


class HostFacts(Frozen):
    """One host, at one moment; sizes in kB as /proc tells them."""

    home: str = ""
    user: str = ""
    hostname: str = ""
    kernel: str = ""
    machine: str = ""
    cores: int | None = None
    memory_kb: int | None = None
    memory_free_kb: int | None = None
    disk_free_kb: int | None = None
    systemd: bool = False
    missing: tuple[str, ...] = ()
    engine_version: str | None = None
    engine_error: str = ""
    engine_pending: bool = False
    """The engine travels with the deploy and is not on the host yet."""
    model: str = ""
    gpus: tuple[Gpu, ...] = ()
    gpu_error: str = ""
    gpu_holders: tuple[GpuHolder, ...] = ()

    @property
    def driver(self) -> str:
        """Return the GPU driver's version, or nothing."""
        return self.gpus[0].driver if self.gpus else ""


_VERSION = re.compile(r"\d+(\.\d+)*([a-z0-9.+_-]*)")


def read_facts(text: str) -> HostFacts:
    """Return the answer of templates/facts.sh and gpus.sh; control characters are taken out."""
    single: dict[str, str] = {}
    many: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, separator, value = line.partition("=")
        if separator:
            clean = "".join(char for char in value if char.isprintable()).strip()
            single.setdefault(name, clean)
            many.setdefault(name, []).append(clean)
    version = single.get("engine_version", "")
    known = _VERSION.fullmatch(version) is not None
    gpus = tuple(gpu for row in many.get("gpu", []) if (gpu := _gpu(row)) is not None)
    return HostFacts(
        home=single.get("home", ""),
        user=single.get("user", ""),
        hostname=single.get("hostname", ""),
        kernel=single.get("kernel", ""),
        machine=single.get("machine", ""),
        cores=number(single.get("cores")),
        memory_kb=number(single.get("memory_kb")),
        memory_free_kb=number(single.get("memory_free_kb")),
        disk_free_kb=number(single.get("disk_free_kb")),
        systemd="systemd" in single,
        missing=tuple(many.get("missing", ())),
        engine_version=version if known else None,
        engine_error="" if known else version,
        engine_pending="engine_pending" in single,
        model=single.get("model", ""),
        gpus=gpus,
        gpu_error=" ".join(many.get("gpu", [])) if "gpu" in many and not gpus else "",
        gpu_holders=tuple(
            holder for row in many.get("gpu_holder", []) if (holder := _holder(row)) is not None
        ),
    )


def _gpu(row: str) -> Gpu | None:
    cells = [cell.strip() for cell in row.split(",")]
    if len(cells) != 12 or number(cells[0]) is None:
        return None
    return Gpu(
        index=int(cells[0]),
        name=cells[1],
        uuid=cells[2],
        memory_mib=number(cells[3]),
        used_mib=number(cells[4]),
        compute=cells[5],
        driver=cells[6],
        link_gen=number(cells[7]),
        link_gen_max=number(cells[8]),
        link_width=number(cells[9]),
        link_width_max=number(cells[10]),
        busy_percent=number(cells[11]),
    )


def _holder(row: str) -> GpuHolder | None:
    words = row.split(" ", 2)
    if len(words) < 2 or number(words[0]) is None or number(words[1]) is None:
        return None
    return GpuHolder(
        index=int(words[0]), pid=int(words[1]), command=words[2] if len(words) > 2 else ""
    )
