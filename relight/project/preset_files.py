"""Presets on disk: one file each, checked as written and again as rendered for a host."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relight import engines
from relight.core.language.templating import is_template
from relight.core.preset import Preset
from relight.core.service import Service
from relight.errors import Fault
from relight.project.files import Files
from relight.project.marks import Document
from relight.project.preset_checks import checks, environment_faults, gpu_fault
from relight.project.rendering import Rendered, strings, unrendered
from relight.project.validation import read
from relight.project.wording import did_you_mean, got

_DECIMAL = "write it in the decimal system, or put it in quotes"


@dataclass(frozen=True)
class PresetFile:
    """One preset as written; `preset` leaves out what only a host's variables can fill."""

    name: str
    document: Document
    preset: Preset | None

    def on(self, rendered: Rendered) -> tuple[Preset | None, tuple[Fault, ...]]:
        """Return the preset with a host's variables in it, or all that is wrong with that."""
        if not any(strings(self.document.data, ())):
            return self.preset, ()  # no template in it: what is wrong was said already
        data, wrong = rendered.value(self.document.data, self.document)
        preset, faults = _judged(data, self.document, unrendered)
        return preset, (*wrong, *faults)

    def gpu_fault(self, preset: Preset, service: Service, where: str) -> Fault | None:
        """Return a fault when the rendered preset and a service disagree about GPUs."""
        if preset.engine not in engines.names():
            return None
        return gpu_fault(preset, engines.load(preset.engine), service, self.document, where)


def find(directories: Iterable[Path], files: Files) -> dict[str, PresetFile]:
    """Return the presets of some directories by name; a name that comes twice is a fault."""
    found: dict[str, PresetFile] = {}
    for directory in directories:
        for path in files.entries(directory):
            if path.suffix not in (".yml", ".yaml") or path.name.startswith("."):
                continue
            document = files.document(path)
            if path.stem in found:
                what = f"the preset {path.stem} stands in {found[path.stem].document.path} too"
                files.add([Fault(files.shown(path), 0, 0, what, "rename or remove one")])
            else:
                found[path.stem] = _read(path.stem, document, files, path)
    return found


def _read(name: str, document: Document | None, files: Files, path: Path) -> PresetFile:
    if document is None:
        return PresetFile(name, Document(files.shown(path), None, {}), None)
    files.add(
        document.fault(trail, oddity, _DECIMAL) for trail, oddity in document.oddities.items()
    )
    preset, faults = _judged(document.data, document, is_template)
    files.add(faults)
    if preset is None and not faults:
        preset, _ = _judged(_without_templates(document.data), document, is_template)
    return PresetFile(name, document, preset)


def _judged(
    data: Any, document: Document, excused: Callable[[Any], bool]
) -> tuple[Preset | None, tuple[Fault, ...]]:
    env = tuple(environment_faults(data, document))
    preset, faults = read(Preset, data, document, excused)
    known = engines.names()
    name = data.get("engine", "sglang") if isinstance(data, dict) else "sglang"
    if isinstance(name, str) and name not in known and not excused(name):
        right = did_you_mean(name, known, "engines")
        unknown = document.fault(("engine",), f"there is no engine {got(name)}", right)
        return None, (*_but_for_env(faults, env), unknown)
    if preset is None or env or preset.engine not in known:
        return (None if env else preset), _but_for_env(faults, env)
    faults = tuple(checks(preset, engines.load(preset.engine), document))
    return (None if faults else preset), faults


def _but_for_env(faults: tuple[Fault, ...], env: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Return the faults with those of `env` at their own places instead of the whole file's."""
    if not env:
        return faults
    return (*(fault for fault in faults if not fault.what.startswith("the file: ")), *env)


def _without_templates(data: Any) -> Any:
    """Return a preset without those parts that a template keeps from being read yet."""
    kept = {key: data[key] for key in ("model", "served_name") if key in data}
    for key, value in data.items():
        readable, _ = read(Preset, {**kept, key: value}, Document("", None, {}))
        if readable is not None:
            kept[key] = value
    return kept
