"""Secret values, read at deploy time from where a reference says; never kept, never shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from relight.core.preset import Preset, SecretRef
from relight.core.scrub import Scrubber
from relight.errors import Fault, InputFaults
from relight.project.files import Files
from relight.project.marks import Document, Trail
from relight.project.wording import got

Run = Callable[[str], str]
"""Runs a command line of the operator's own and returns what it prints; raises OSError."""

_LARGEST = 64 * 1024


@dataclass(frozen=True, repr=False)
class Secrets:
    """The values of one deploy, and what takes them out of texts."""

    values: Mapping[str, str]

    @property
    def scrub(self) -> Scrubber:
        """Return what removes these values from a text."""
        return Scrubber(self.values.values())

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self.values)})"


def resolve(preset: Preset, document: Document, run: Run, base: Path) -> Secrets:
    """Return the values of a preset's secrets; raises InputFaults naming each that has none.

    `document` is the preset's file, for the places; a relative `file` lies below `base`; `run`
    starts a process for `command`, which this layer does not do.
    """
    values: dict[str, str] = {}
    faults: list[Fault] = []
    for trail, name, reference in _references(preset):
        try:
            values[name] = _checked(_value(reference, run, base), name)
        except _NoValue as problem:
            faults.append(document.fault(trail, f"{name} has no value: {problem}"))
    if faults:
        raise InputFaults(tuple(faults))
    return Secrets(values)


def _references(preset: Preset) -> Iterator[tuple[Trail, str, SecretRef]]:
    """Return where each reference stands, and under which name its value is known.

    A flag's name has its dashes there, which no variable's can have.
    """
    for name, reference in preset.env.items():
        if isinstance(reference, SecretRef):
            yield ("env", name), name, reference
    for name, reference in preset.secret_flags.items():
        yield ("secret_flags", name), f"--{name}", reference


class _NoValue(Exception):
    """Why a reference gave nothing; never holds what it gave."""


def _value(reference: SecretRef, run: Run, base: Path) -> str:
    if reference.env is not None:
        value = os.environ.get(reference.env)
        if value is None:
            raise _NoValue(f"the environment variable {got(reference.env)} is not set here")
        return value
    if reference.file is not None:
        return _file(base / Files().expanded(reference.file), reference.file)
    try:
        return run(reference.command or "").rstrip("\r\n")
    except OSError as error:
        why = error.strerror or "it failed"
        raise _NoValue(f"the command {got(reference.command)} gave none: {why}") from None


def _file(path: Path, written: str) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no such name"
        raise _NoValue(f"the file {got(written)} cannot be read: {why}") from None
    if len(raw) > _LARGEST:
        raise _NoValue(f"the file {got(written)} is larger than {_LARGEST // 1024} KiB")
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise _NoValue(f"the file {got(written)} is not UTF-8 text") from None


def _checked(value: str, name: str) -> str:
    if not value:
        raise _NoValue("what it names is empty")
    if "\0" in value:
        raise _NoValue("what it names holds a NUL byte, which no variable can")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise _NoValue("what it names is not UTF-8 text")
    if name.startswith("--") and value.startswith("-"):
        raise _NoValue("what it names begins with a dash: the engine would take it for a flag")
    return value
