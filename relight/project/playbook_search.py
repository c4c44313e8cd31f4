"""Where a file that a playbook names is looked for on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def find_source(name: str, kind: str, folders: Iterable[Path]) -> Path | None:
    """Return a file or folder to send: in each folder first under `kind` (`files`, `templates`)."""
    for folder in folders:
        for base in (folder / kind, folder):
            path = (base / name).expanduser()
            if path.exists():
                return path
    return None


def find_tasks(name: str, folder: Path, root: Path) -> Path | None:
    """Return a file of tasks: beside the file that names it, under its tasks/, or in playbooks/."""
    for base in (folder, folder / "tasks", root / "playbooks", root):
        path = (base / name).absolute()
        if path.is_file():
            return path
    return None
