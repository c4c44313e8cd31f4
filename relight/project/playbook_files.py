"""The files of one playbook: how they are found and read, and where their faults go."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from relight.core.language.playbook import Catalog, Node
from relight.project import yaml
from relight.project.marks import Document
from relight.project.playbook_uses import Definition, Source, Use
from relight.project.playbook_values import Found


@dataclass
class Reader:
    """Reads the files of one playbook and keeps every fault; `root` is what paths are shown from.

    `modules` is None when nobody asked to check modules and their arguments.
    """

    root: Path
    modules: Catalog | None
    found: list[Found] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)
    open: tuple[Path, ...] = ()
    uses: list[Use] = field(default_factory=list)
    """What tasks render for sure."""
    written: list[Definition] = field(default_factory=list)
    """Variables of plays, blocks, tasks and files."""
    sources: list[Source] = field(default_factory=list)
    """Files that tasks send for sure."""
    notifies: list[Use] = field(default_factory=list)
    """What tasks notify."""
    included: list[Node] = field(default_factory=list)
    """Tasks of files that the play reads when it gets there."""
    guarded: bool = False
    """Whether a rescue further out covers what is read."""
    known: dict[Path, Document] = field(default_factory=dict)
    """Files that were read already: tasks are often imported in several places."""

    def document(self, path: Path) -> Document:
        """Return a file, read once; raises InputFaults when it is no YAML."""
        if path not in self.known:
            self.known[path] = yaml.read(path, shown(self.root, path))
        return self.known[path]

    def found_in(self, document: Document) -> Found:
        """Return where the faults of a file go."""
        found = Found(document)
        self.found.append(found)
        return found


def shown(root: Path, path: Path) -> str:
    """Return a path as faults say it: from the root where it is inside of it."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
