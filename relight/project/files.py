"""The files of one run: each read once, named as the operator would name it, faults collected."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from relight.errors import Fault, InputFaults
from relight.project.marks import Document
from relight.project.yaml import LARGEST, read

EXTENSIONS = ("", ".yml", ".yaml", ".json")
"""Endings of variable files, in the order in which Ansible looks for them."""


class Files:
    """Reads documents and goes on after a broken one, so that one run finds all faults."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.mentioned: set[str] = set()
        self._read: dict[Path, Document | None] = {}
        self._here = Path.cwd()

    def shown(self, path: Path) -> str:
        """Return a path as faults name it: relative when it lies below the working directory."""
        absolute = Path(os.path.normpath(self._here / path))
        below = absolute.is_relative_to(self._here)
        return str(absolute.relative_to(self._here)) if below else str(absolute)

    def document(self, path: Path) -> Document | None:
        """Return a file's content, or None after its faults were taken down."""
        if path not in self._read:
            self._read[path] = None
            try:
                self._read[path] = read(path, self.shown(path))
            except InputFaults as error:
                self.add(error.faults)
                self._mention(path)
        return self._read[path]

    @property
    def documents(self) -> tuple[Document, ...]:
        """Return every file that could be read, in the order of reading."""
        return tuple(document for document in self._read.values() if document is not None)

    def broken(self, path: Path) -> bool:
        """Return whether a file was read in vain."""
        return path in self._read and self._read[path] is None

    def expanded(self, written: str) -> Path:
        """Return a path that the operator wrote, `~` resolved where that is possible."""
        try:
            return Path(written).expanduser()
        except RuntimeError:
            return Path(written)  # ~nobody: there is no such file, and the reader says so

    def mapping(self, path: Path, what: str) -> Document | None:
        """Return a file that holds a mapping or nothing; anything else is a fault."""
        document = self.document(path)
        if document is None or document.data is None:
            return None
        if not isinstance(document.data, dict):
            self.add([document.fault((), f"{what} is a mapping at its top", "write name: value")])
            return None
        return document

    def entries(self, directory: Path) -> tuple[Path, ...]:
        """Return what lies in a directory, sorted by name; nothing when there is none."""
        try:
            return tuple(sorted(directory.iterdir()))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
            self.add([Fault(self.shown(directory), 0, 0, why)])
            return ()

    def add(self, faults: Iterable[Fault]) -> None:
        """Take faults down."""
        self.faults += faults

    def _mention(self, path: Path) -> None:
        """Keep the names that a broken file may define, so that their lack is blamed on it."""
        try:
            text = path.read_bytes()[:LARGEST].decode("utf-8", "replace")
        except (OSError, ValueError):
            return
        self.mentioned.update(re.findall(r"\b[A-Za-z_][A-Za-z0-9_]*+(?=[\"']?\s*:)", text))
