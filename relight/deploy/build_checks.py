"""What the installed build itself says of a command line, asked while the old server serves."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from relight.connections import Result
from relight.core.attempt import Recipe, enabled_layers
from relight.core.build import Build, CheckVerdict, FlagFault
from relight.core.desired import Wanted
from relight.core.memory import build_of
from relight.core.release import digest
from relight.deploy.target import Target
from relight.store.service import on_host

_BASE = "base"
FLAGS_WITHIN = 60.0
"""Seconds that reading the flags of a build may take."""

_CHECKS_WITHIN = 240.0  # the engine's imports alone took 30 s on a cold disk


@dataclass(frozen=True)
class Checked:
    """Faults of the base flags, and layers that the build refuses, each with its reason."""

    faults: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def check_build(target: Target, wanted: Wanted, build: Build | None, *, write: bool) -> Checked:
    """Check flags against the build's own parser, then by the engine's own checks.

    Which layer is to blame follows from what was asked, base and base with one layer each, never
    from the words of a message. What was learnt is kept on the host for this build.
    """
    layers = enabled_layers(wanted.preset)
    checked = _against(target, wanted, build) if build is not None else Checked()
    if checked.faults:
        return checked
    verdicts = _verdicts(
        target, wanted, [one for one in layers if one not in checked.refused], write
    )
    base = verdicts.get(_BASE)
    if base is None:
        return checked
    if not base.ok:
        if base.uncertain:
            target.say(
                f"the engine's own checks say little without a GPU: {_said(base)}", "warning"
            )
            return checked
        return Checked([f"the engine refuses these flags: {_said(base)}"], checked.refused)
    refused = {
        layer: _said(verdicts[layer])
        for layer in layers
        if layer in verdicts and not verdicts[layer].ok and not verdicts[layer].uncertain
    }
    return Checked([], checked.refused | refused)


def read_build(target: Target, wanted: Wanted, *, write: bool) -> Build | None:
    """Return the flag set of the build, read once and then kept; None when it cannot be read."""
    data = target.engine.flags_script().encode()
    step = build_step(target, wanted, write=write)
    return build_said(target, target.connection.control(step, data=data, timeout=FLAGS_WITHIN))


def build_step(target: Target, wanted: Wanted, *, write: bool) -> str:
    """Return the step that prints the flag set; its stdin is the engine's script that reads it."""
    cache = f"{_folder(target, wanted)}/flags.json"
    asked = f'"$py" - {f"| tee {cache}.new" if write else ""}'
    keep = f"mkdir -p {_folder(target, wanted)} && " if write else ""
    moved = f" && [ -s {cache}.new ] && mv -f {cache}.new {cache}" if write else ""
    return (
        f"umask 077; {_variables(wanted)}{target.engine.python_of(wanted.spec)}"
        f"if [ -s {cache} ]; then cat >/dev/null; cat {cache}; else {keep}{asked}{moved}; fi"
    )


def build_said(target: Target, result: Result) -> Build | None:
    """Return what the step printed, read; None, and a warning, when it cannot be."""
    try:
        return target.engine.read_build(result.out)
    except ValueError as error:
        why = result.err.strip().splitlines()[-1:] or [str(error)]
        target.say(f"the build's flags could not be read ({why[0]}): unchecked", "warning")
        return None


def cached_build(target: Target, wanted: Wanted) -> Build | None:
    """Return the flag set of the build where it was read before; starts nothing on the host."""
    result = target.connection.control(cached_build_step(target, wanted))
    try:
        return target.engine.read_build(result.out)
    except ValueError:
        return None


def cached_build_step(target: Target, wanted: Wanted) -> str:
    """Return the step that prints what was read of the build before, or nothing."""
    cache = f"{_folder(target, wanted)}/flags.json"
    return f"[ ! -f {cache} ] || cat {cache}"


def _against(target: Target, wanted: Wanted, build: Build) -> Checked:
    """Judge base flags and each layer's by the build's parser and by what the engine forgets."""
    preset = wanted.preset
    gpus = len(wanted.service.gpus) or None
    base = [
        *target.engine.check_flags(
            {**preset.flags, **dict.fromkeys(preset.secret_flags, "")}, build
        ),
        *target.engine.forgotten(preset.flags, None, gpus),
    ]
    refused: dict[str, str] = {}
    for name in enabled_layers(preset):
        found = target.engine.check_flags(preset.layers[name].flags, build)
        wrong = [one.message for one in found if not one.warning]
        if wrong:
            refused[name] = "; ".join(wrong)
    for one in base:
        if one.warning:
            target.say(one.message, "warning")
    return Checked([_fault(wanted, one) for one in base if not one.warning], refused)


def _fault(wanted: Wanted, fault: FlagFault) -> str:
    return f"preset {wanted.preset_name}, flag {fault.flag}: {fault.message}"


def _verdicts(
    target: Target,
    wanted: Wanted,
    layers: list[str],
    write: bool,  # noqa: FBT001 - as given
) -> dict[str, CheckVerdict]:
    """Return the engine's own verdict on base and on base with one layer each."""
    engine = target.engine
    candidates = {_BASE: engine.arguments(wanted.request(Recipe()))} | {
        layer: engine.arguments(wanted.request(Recipe(layers=(layer,)))) for layer in layers
    }
    # The port says nothing about flags, and would make every verdict another one.
    cache = (
        f"{_folder(target, wanted)}/checks-{digest(candidates, wanted.environment(Recipe()))[:16]}"
    )
    keep = f"| tee {cache}.new && [ -s {cache}.new ] && mv -f {cache}.new {cache}" if write else ""
    command = (
        f"umask 077; {engine.python_of(wanted.spec)}"
        f'if [ -s {cache} ]; then cat >/dev/null; cat {cache}; else "$py" - {keep}; fi'
    )
    target.say("asking the engine itself (base, and each layer); the old server serves on")
    result = target.connection.run(
        command,
        data=engine.checks_script(candidates).encode(),
        environment=wanted.environment(Recipe()),
        timeout=_CHECKS_WITHIN,
    )
    try:
        return {one.name: one for one in engine.read_checks(result.out)}
    except ValueError as error:
        why = result.err.strip().splitlines()[-1:] or [str(error)]
        target.say(f"the engine's own checks could not be run ({why[0]})", "warning")
        return {}


def _folder(target: Target, wanted: Wanted) -> str:
    """Return the folder of what was learnt of one build, as a shell word."""
    name = build_of(target.engine.name, wanted.engine_version, wanted.spec)
    return f"{on_host(target.spec.home)}/builds/{shlex.quote(name)}"


def _variables(wanted: Wanted) -> str:
    return "".join(
        f"export {shlex.quote(f'{name}={value}')}; "
        for name, value in wanted.environment(Recipe()).items()
    )


def _said(verdict: CheckVerdict) -> str:
    where = f" ({verdict.where})" if verdict.where else ""
    first = verdict.message.strip().splitlines()[0] if verdict.message.strip() else "no words"
    return f"{first}{where}"
