"""`relight init`: lays playbooks, templates and inventory into a folder of the operator's own."""

from __future__ import annotations

import shutil
from pathlib import Path

from relight.errors import UsageError
from relight.project import content


def init(directory: Path) -> tuple[str, ...]:
    """Lay the shipped content into a folder and return what was written, relative to it.

    Raises UsageError, and writes nothing, when a file that would be written exists already.
    """
    source = content.shipped()
    files = {
        path.relative_to(source): path
        for folder in content.FOLDERS
        for path in sorted((source / folder).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
        if not content.internal(path.relative_to(source))
    }
    _refuse(directory, tuple(files))
    try:
        for relative, path in files.items():
            target = directory / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    except OSError as error:
        raise UsageError(f"{directory}: cannot be written: {error.strerror}") from None
    return tuple(str(relative) for relative in files)


def _refuse(directory: Path, wanted: tuple[Path, ...]) -> None:
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is no folder; name a new or an empty one")
    there = [str(path) for path in wanted if (directory / path).exists()]
    if there:
        named = ", ".join(there[:5]) + (", ..." if len(there) > 5 else "")
        raise UsageError(
            f"{directory} holds {len(there)} of the files that would be written ({named}); "
            "nothing was changed; name a new or an empty folder"
        )
