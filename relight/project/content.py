"""Where playbooks, templates and inventory are found: the project's own first, else the shipped."""

from __future__ import annotations

from pathlib import Path

from relight.errors import Fault, InputFaults
from relight.project.wording import did_you_mean, short

FOLDERS = ("playbooks", "templates", "inventory")


def shipped() -> Path:
    """Return the folder of the shipped content: in the wheel, else beside the package."""
    package = Path(__file__).resolve().parent.parent
    packed = package / "content"
    return packed if packed.is_dir() else package.parent


def internal(path: Path) -> bool:
    """Return whether a template is relight's own: its scripts belong to the version that runs."""
    script = path.parts[:1] == ("templates",) and path.suffix == ".sh"
    return script and (shipped() / path).is_file()


def folders(root: Path, folder: str) -> tuple[Path, ...]:
    """Return where a folder's files are looked for, in order."""
    return tuple(dict.fromkeys((root / folder, shipped() / folder)))


def find(root: Path, folder: str, name: str) -> Path:
    """Return a file of the project, or the shipped one of that name; raises InputFaults.

    A name stays inside of its folder: no absolute path, no `..`.
    """
    path = Path(name)
    inside = "\0" not in name and not path.is_absolute() and ".." not in path.parts
    inside &= all(len(part.encode("utf-8", "replace")) < 250 for part in path.parts)
    for place in folders(root, folder) if inside else ():
        if (place / path).is_file():
            return place / path
    known = sorted(
        {
            str(file.relative_to(place))
            for place in folders(root, folder)
            for file in place.rglob("*")
            if file.is_file() and not file.name.startswith(".")
        }
    )
    what = "there is no such file here" if inside else f"this is no name inside of {folder}/"
    right = did_you_mean(name, known, "there are")
    raise InputFaults((Fault(f"{folder}/{short(name)}", 0, 0, what, right),))
