"""The verbs of a playbook, a file each, found by their name.

A module file has `class Args(Frozen)`, what the task may say, and
`def run(args: Args, scope: Scope) -> Outcome`, which acts on one host. Optional names:
`FREE_FORM = "cmd"` (the argument that a bare string fills), `RAW = ("that",)` (arguments that the
module renders by itself), `CHECK_MODE = False` (skipped under `--check`; a module without it
must honour `scope.check` itself), `BRIEF = True` (what it runs ends at once on Ctrl-C) and
`SENDS = "files"` (the folder in which its `src` is looked for on this machine). A file whose
module is named as a Python keyword ends in `_`.
"""

from __future__ import annotations

import importlib
import keyword
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from relight.connections import Connection
from relight.connections.anew import Anew
from relight.core.events import Event
from relight.core.language.playbook import ModuleSpec
from relight.project import Project
from relight.project.playbook_search import find_source

if TYPE_CHECKING:
    from relight.core.language.templating import Templar


@dataclass(frozen=True)
class Scope:
    """What a task may reach on one host, handed to it: there is no ambient context.

    `open_connection` connects at its first call and returns the same connection afterwards;
    `anew` returns what opens another one, which a task may begin and a later one take.
    `variables` are the task's variables, rendered when they are looked up. `environment` and
    `become` are the task's.
    """

    host: str
    variables: Mapping[str, Any]
    project: Project
    open_connection: Callable[[], Connection]
    anew: Callable[[], Anew]
    report: Callable[[Event], None]
    check: bool = False
    diff: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    become: bool = False
    templar: Templar | None = None
    """What renders with the task's variables, for a module that evaluates expressions."""
    stopped: Callable[[], bool] = lambda: False
    """Whether the operator said stop: a module that acts for long asks now and then."""
    folder: str = ""
    """The folder of the playbook's file: relative sources are looked for from there."""
    beside: str = ""
    """The folder of the task's own file, where they are looked for first."""

    def source(self, name: str, kind: str) -> Path | None:
        """Return a file or folder of this machine by its name; `kind` is its usual folder."""
        places = [Path(place) for place in (self.beside, self.folder) if place]
        return find_source(name, kind, (*places, self.project.root))


@cache
def names() -> tuple[str, ...]:
    """Return the modules that exist here, by their short names."""
    return tuple(sorted(module.name.rstrip("_") for module in pkgutil.iter_modules(__path__)))


def load(name: str) -> ModuleType:
    """Return the file of a module; raises ImportError when there is none."""
    file = f"{name}_" if keyword.iskeyword(name) else name
    return importlib.import_module(f"{__name__}.{file}")


@cache
def spec(name: str) -> ModuleSpec:
    """Return what is known of a module without running it."""
    module = load(name)
    return ModuleSpec(
        name,
        module.Args,
        getattr(module, "FREE_FORM", None),
        getattr(module, "RAW", ()),
        getattr(module, "CHECK_MODE", True),
        getattr(module, "BRIEF", False),
        getattr(module, "SENDS", ""),
    )
