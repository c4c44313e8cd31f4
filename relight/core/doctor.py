"""What is wrong with a host before any deploy: findings, each with what to do. Pure."""

from __future__ import annotations

from typing import Literal

from relight.core.facts import HostFacts
from relight.core.model import Frozen
from relight.core.observed import Observed
from relight.core.service import Service

Level = Literal["ok", "unknown", "warning", "fault"]
_DISK_LOW_KB = 2 * 1024 * 1024
_ORDER: dict[str, int] = {"fault": 0, "warning": 1, "unknown": 2, "ok": 3}


class Finding(Frozen):
    """One thing that was looked at; `remedy` is empty where nothing has to be done."""

    level: Level
    subject: str
    what: str
    remedy: str = ""


def findings(
    facts: HostFacts, observed: Observed, service: Service, *, launcher: str, declared: int
) -> tuple[Finding, ...]:
    """Return everything that facts and state tell, the worst first.

    `declared` is the number of GPUs that the inventory says the host has (0: it says nothing).
    """
    found = [
        *_tools(facts),
        _engine(facts),
        *_model(facts),
        *_gpus(facts, service, declared),
        *_holders(facts, observed),
        *_links(facts),
        _disk(facts),
        _launcher(facts, launcher),
        *_port(observed, service),
    ]
    return tuple(sorted(found, key=lambda one: _ORDER[one.level]))


def _tools(facts: HostFacts) -> list[Finding]:
    if facts.missing:
        names = ", ".join(facts.missing)
        return [
            Finding(
                level="fault",
                subject="tools",
                what=f"missing: {names}",
                remedy="install coreutils, util-linux and grep/sed",
            )
        ]
    return [Finding(level="ok", subject="tools", what="sh, coreutils and util-linux are there")]


def _engine(facts: HostFacts) -> Finding:
    if facts.engine_version is not None:
        return Finding(level="ok", subject="engine", what=f"version {facts.engine_version}")
    if facts.engine_pending:
        return Finding(level="ok", subject="engine", what="travels with the first deploy")
    return Finding(
        level="fault",
        subject="engine",
        what=facts.engine_error or "it prints no version",
        remedy="set relight_engine.python to the Python that has it",
    )


def _model(facts: HostFacts) -> list[Finding]:
    if not facts.model:
        return [
            Finding(level="unknown", subject="weights", what="the model is named by a hub's name")
        ]
    if facts.model == "present":
        return [Finding(level="ok", subject="weights", what="the model's folder has a config.json")]
    return [
        Finding(
            level="fault",
            subject="weights",
            what=f"the model's folder: {facts.model}",
            remedy="check the preset's model and relight_engine.model_root, or fetch it",
        )
    ]


def _gpus(facts: HostFacts, service: Service, declared: int) -> list[Finding]:
    if facts.gpu_error:
        return [
            Finding(
                level="fault",
                subject="GPUs",
                what=facts.gpu_error[:200],
                remedy="check the driver: nvidia-smi must work",
            )
        ]
    there = {gpu.index for gpu in facts.gpus}
    found = [
        Finding(
            level="ok",
            subject=f"GPU {gpu.index}",
            what=f"{gpu.name}, {gpu.memory_mib} MiB, {gpu.used_mib} MiB used, driver {gpu.driver}",
        )
        for gpu in facts.gpus
    ]
    lost = sorted(set(service.gpus) - there)
    if lost:
        found.append(
            Finding(
                level="fault",
                subject="GPUs",
                what=f"the service wants GPU {', '.join(map(str, lost))}: not there",
                remedy="check relight_services.*.gpus, or what became of the GPU",
            )
        )
    if declared and facts.gpus and declared != len(there):
        found.append(
            Finding(
                level="warning",
                subject="GPUs",
                what=f"the inventory declares {declared}, the driver shows {len(there)}",
                remedy="a GPU may have fallen off the bus: see dmesg",
            )
        )
    if not facts.gpus:
        found.append(Finding(level="unknown", subject="GPUs", what="no driver, no GPU seen"))
    return found


def _holders(facts: HostFacts, observed: Observed) -> list[Finding]:
    ours = set(observed.pids)
    return [
        Finding(
            level="warning",
            subject=f"GPU {holder.index}",
            what=f"held by pid {holder.pid}, not relight's: {holder.command}",
            remedy="end it, or adopt it, before a deploy needs its memory",
        )
        for holder in facts.gpu_holders
        if holder.pid not in ours
    ]


def _links(facts: HostFacts) -> list[Finding]:
    """An idle link runs slow on purpose: it says something only while the GPU works."""
    found = []
    for gpu in facts.gpus:
        if gpu.link_gen is None or gpu.link_gen_max is None:
            continue
        full = gpu.link_gen == gpu.link_gen_max and gpu.link_width == gpu.link_width_max
        most = f"gen {gpu.link_gen_max} x{gpu.link_width_max}"
        text = f"PCIe gen {gpu.link_gen} x{gpu.link_width}, at most {most}"
        busy = (gpu.busy_percent or 0) >= 50
        level: Level = "ok" if full else "warning" if busy else "unknown"
        remedy = "reseat the card or check the riser and the BIOS" if level == "warning" else ""
        idle = "" if full or busy else " (idle: a link slows down without work)"
        found.append(
            Finding(level=level, subject=f"link {gpu.index}", what=text + idle, remedy=remedy)
        )
    return found


def _disk(facts: HostFacts) -> Finding:
    free = facts.disk_free_kb
    if free is None:
        return Finding(level="unknown", subject="disk", what="df says nothing")
    text = f"{free / 1024 / 1024:.1f} GiB free at home"
    if free < _DISK_LOW_KB:
        return Finding(
            level="warning", subject="disk", what=text, remedy="make room: logs grow there"
        )
    return Finding(level="ok", subject="disk", what=text)


def _launcher(facts: HostFacts, launcher: str) -> Finding:
    if launcher == "systemd" and not facts.systemd:
        return Finding(
            level="fault",
            subject="launcher",
            what="relight_launcher is systemd, and systemd does not run there",
            remedy="set relight_launcher: process",
        )
    if launcher == "process" and facts.systemd:
        return Finding(
            level="warning",
            subject="launcher",
            what="process: a reboot leaves the service down",
            remedy="set relight_launcher: systemd",
        )
    return Finding(level="ok", subject="launcher", what=launcher)


def _port(observed: Observed, service: Service) -> list[Finding]:
    if observed.foreign:
        return [
            Finding(
                level="fault",
                subject=f"port {service.port}",
                what=f"held by {one}",
                remedy="end it, adopt it, or give the service another port",
            )
            for one in observed.foreign
        ]
    if not service.port:
        return []
    by = "the service's own server" if observed.port_pids else "nobody"
    return [Finding(level="ok", subject=f"port {service.port}", what=f"held by {by}")]
