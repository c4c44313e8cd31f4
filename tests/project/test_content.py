"""The project's own files come first, then those that relight brings along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from relight.errors import InputFaults
from relight.project import content

Lay = Callable[[Mapping[str, str]], Path]


def test_the_shipped_content_is_there() -> None:
    """Beside the package in a clone, inside of it in a wheel."""
    assert (content.shipped() / "inventory" / "hosts.yml").is_file()


def test_a_file_of_the_project_hides_the_shipped_one(lay: Lay) -> None:
    """File by file: others are still found."""
    root = lay({"inventory/hosts.yml": "mine\n"})
    assert content.find(root, "inventory", "hosts.yml") == root / "inventory" / "hosts.yml"
    shipped = content.find(root, "inventory", "presets/sandbox.yml")
    assert shipped == content.shipped() / "inventory" / "presets" / "sandbox.yml"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "a\0b", "x" * 300])
def test_a_name_that_leaves_its_folder_is_refused(name: str, lay: Lay) -> None:
    """A playbook cannot ship the controller's files to a host by a template's name."""
    with pytest.raises(InputFaults, match="no name inside of templates/"):
        content.find(lay({}), "templates", name)


def test_a_misspelt_name_is_answered_with_the_right_one(lay: Lay) -> None:
    """Or with what there is."""
    with pytest.raises(InputFaults, match=r"did you mean presets/sandbox\.yml"):
        content.find(lay({}), "inventory", "presets/sandbx.yml")
