"""The secret values of one run: read once each, and known to every sink that must not show them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from relight.core.preset import Preset
from relight.core.scrub import Scrubber
from relight.project.marks import Document
from relight.project.secrets import Run, resolve


class Vault:
    """Resolves references, and takes what it resolved out of any text (call it with the text).

    `run` starts a process for references by `command`; only connections may do that.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._mutex = threading.Lock()
        self._known: set[str] = set()
        self._scrub = Scrubber(())
        self._read: dict[tuple[str, str], Mapping[str, str]] = {}

    def __call__(self, text: str) -> str:
        """Return the text without any value that was read so far."""
        return self._scrub(text)

    def __repr__(self) -> str:
        return "Vault()"

    def hide(self, values: Iterable[str]) -> None:
        """Take these values out of every text from now on as well."""
        with self._mutex:
            self._known.update(values)
            self._scrub = Scrubber(self._known)

    def values(
        self, key: tuple[str, str], preset: Preset, document: Document, base: Path
    ) -> Mapping[str, str]:
        """Return a preset's values, reading each at most once; raises InputFaults."""
        with self._mutex:
            if key not in self._read:
                values = resolve(preset, document, self._run, base).values
                self._known.update(values.values())
                self._scrub = Scrubber(self._known)
                self._read[key] = values
            return self._read[key]
