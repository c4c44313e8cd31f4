"""`relight init` lays a folder that works."""

from __future__ import annotations

from pathlib import Path

import pytest

from relight.errors import UsageError
from relight.project import content
from relight.project.loader import load
from relight.project.scaffold import init


def test_a_new_folder_holds_the_shipped_content_and_loads(tmp_path: Path) -> None:
    """What was written is listed, and the project in it is sound."""
    folder = tmp_path / "new" / "place"
    written = init(folder)
    assert set(written) == {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    }
    assert {"inventory/hosts.yml", "inventory/presets/sandbox.yml"} <= set(written)
    project = load(folder)
    assert "sandbox" in project.hosts("all")
    assert all(
        (folder / name).read_bytes() == (content.shipped() / name).read_bytes() for name in written
    )


def test_scripts_of_relight_itself_are_neither_laid_nor_overridden(tmp_path: Path) -> None:
    """A copy of the host script in a project would outlive the relight that it belongs to."""
    written = init(tmp_path)
    assert "templates/launch.sh.j2" in written
    assert not [name for name in written if name.endswith(".sh")]
    (tmp_path / "templates" / "host").mkdir()
    (tmp_path / "templates" / "host" / "10-ground.sh").write_text("touch canary\n")
    assert "canary" not in load(tmp_path).template("host/10-ground.sh")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """One file in the way stops it before anything is written."""
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "hosts.yml").write_text("mine\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"inventory/hosts\.yml"):
        init(tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["hosts.yml"]


def test_other_files_of_a_folder_stay(tmp_path: Path) -> None:
    """A folder with a README of its own will do."""
    (tmp_path / "README.md").write_text("mine\n", encoding="utf-8")
    init(tmp_path)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "mine\n"


def test_a_file_in_place_of_the_folder_is_an_error_in_words(tmp_path: Path) -> None:
    """Not a traceback."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="is no folder"):
        init(tmp_path / "file")
    with pytest.raises(UsageError, match="cannot be written"):
        init(tmp_path / "file" / "below")
