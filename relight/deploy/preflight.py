"""Preflight: what would fail, found before anything is stopped."""

from __future__ import annotations

from dataclasses import dataclass, field

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from relight.core.attempt import Refused, first_recipe, refusals
from relight.core.capacity.room import crowded
from relight.core.desired import Wanted
from relight.core.facts import HostFacts
from relight.deploy.build_checks import check_build
from relight.deploy.capacity import say_fit
from relight.deploy.learnt import Learnt, read_learnt
from relight.deploy.look import Seen
from relight.deploy.remembered import forget
from relight.deploy.secrets import new_values
from relight.deploy.target import Target
from relight.deploy.way_back import say_broken

_DISK_NEEDED_KB = 64 * 1024


@dataclass(frozen=True)
class Found:
    """What preflight came to: faults end the deploy, refused layers are left out of it.

    `weights_mib` is what the weights take of each GPU, 0.0 where that is not known.
    """

    unchanged: bool = False
    faults: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    remembered: tuple[Refused, ...] = ()
    summary: str = ""
    weights_mib: float = 0.0


def preflight(
    target: Target,
    seen: Seen,
    wanted: Wanted,
    *,
    engine_checks: bool,
    write: bool,
    retry: bool = False,
) -> Found:
    """Return every fault at once; asks the engine itself only when something changed.

    What the host remembers as rejected is left out too, unless `retry` forgets it first.
    """
    if is_unchanged(target, seen, wanted, retry=retry):
        return Found(unchanged=True, summary="nothing changed, and it runs")
    if wanted.secrets or wanted.secret_flags:
        target.project.secrets(target.host, wanted.preset_name)
    faults = [
        *host_faults(target.launcher.name, seen),
        *gpu_faults(wanted, seen.facts),
        *version_faults(wanted, seen.facts),
    ]
    refused: dict[str, str] = {}
    learnt = Learnt()
    if not faults:
        asks = engine_checks and seen.facts.engine_version is not None
        learnt = read_learnt(target, wanted, seen.observed, flags=asks, write=write)
        say_broken(target, learnt.no_way_back)
        if asks:
            build = check_build(target, wanted, learnt.build, write=write)
            faults += build.faults
            refused = build.refused
    for layer, reason in refused.items():
        target.say(f"layer {layer} would not start and is left out: {reason}", "warning")
    weights_mib = 0.0 if faults else say_fit(target, seen, wanted)
    if weights_mib and not seen.observed.pids:
        held = crowded(seen.facts, wanted.service.gpus, weights_mib)
        faults += [f"{held}; end what holds it, or bind other GPUs"] if held else []
    remembered = () if retry or faults else learnt.remembered
    if retry and write and not faults and forget(target, wanted):
        target.say("what this build rejected before is forgotten: every layer is tried again")
    for one in remembered:
        what = ", ".join((*(f"layer {name}" for name in one.layers), *one.changes, *one.env))
        target.say(f"{what} is not tried as asked: {one.reason}", "warning")
    recipe = first_recipe(wanted.preset, refusals(refused, remembered))
    names = recipe.layers
    return Found(
        faults=tuple(faults),
        refused=refused,
        remembered=remembered,
        weights_mib=weights_mib,
        summary=f"{len(target.engine.command(wanted.request(recipe)))} words, "
        f"layers: {', '.join(names) or 'none'}",
    )


def is_unchanged(target: Target, seen: Seen, wanted: Wanted, *, retry: bool = False) -> bool:
    """Return whether what is asked for is what runs here, confirmed or kept on purpose.

    With `retry` a degraded release is not: what it goes without is tried again. A secret that has
    another value now is a change; only where all else is equal, values are read and compared.
    """
    release = seen.observed.release
    return (
        release is not None
        and seen.observed.settled
        and release.id == seen.observed.current
        and release.asked == wanted.asked
        and not (retry and release.degraded)
        and not new_values(target, wanted, release.id)
    )


def host_faults(launcher: str, seen: Seen) -> list[str]:
    """Return what the host itself lacks."""
    facts, observed = seen.facts, seen.observed
    faults = []
    if facts.missing:
        faults.append(f"the host lacks {', '.join(facts.missing)}: install coreutils, util-linux")
    if launcher == "systemd" and not facts.systemd:
        faults.append("relight_launcher is systemd, but the host does not run systemd")
    if facts.engine_version is None and not facts.engine_pending:
        why = facts.engine_error or "it prints no version"
        faults.append(f"the engine does not answer: {why}; check relight_engine")
    if observed.foreign:
        faults.append(
            "the port is held by a process that is not relight's: "
            + "; ".join(observed.foreign)
            + "; `inv adopt` takes over a server, else end it yourself or choose another port"
        )
    if facts.model in ("missing", "no config.json"):
        faults.append(f"the model's folder is {facts.model}; check the preset's model")
    if observed.free_kb is not None and observed.free_kb < _DISK_NEEDED_KB:
        faults.append(f"only {observed.free_kb} kB of disk are free where relight keeps releases")
    return faults


def gpu_faults(wanted: Wanted, facts: HostFacts) -> list[str]:
    """Return a fault when the driver shows GPUs, and not those that the service is bound to."""
    lost = sorted(set(wanted.service.gpus) - {gpu.index for gpu in facts.gpus})
    if not lost or not facts.gpus:
        return []
    there = ", ".join(str(gpu.index) for gpu in facts.gpus)
    names = ", ".join(map(str, lost))
    return [f"the service wants GPU {names}, and the driver shows {there}: see inv doctor"]


def version_faults(wanted: Wanted, facts: HostFacts) -> list[str]:
    """Return a fault when the installed engine is outside of the preset's range."""
    if facts.engine_version is None or not wanted.preset.engine_version:
        return []
    try:
        version = Version(facts.engine_version)
    except InvalidVersion:
        return [f"the engine's version {facts.engine_version!r} cannot be read"]
    if SpecifierSet(wanted.preset.engine_version).contains(version, prereleases=True):
        return []
    name = wanted.preset.engine
    wants = f"preset {wanted.preset_name} is written for {wanted.preset.engine_version}"
    return [f"{name} {version} is installed, and {wants}; use a preset for that version"]
