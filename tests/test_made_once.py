"""What is made once: built aside, whole or absent, by one of many callers."""

import threading
from pathlib import Path

import pytest

from tests.made_once import contents, key, made_once


def test_builds_once_for_two_callers(tmp_path: Path) -> None:
    """Of callers at the same time one builds; all of them get the finished folder."""
    built: list[Path] = []
    gate = threading.Barrier(4)

    def build(folder: Path) -> None:
        built.append(folder)
        (folder / "content").write_text("whole", encoding="utf-8")

    def call() -> None:
        gate.wait()
        made_once(tmp_path / "place", build)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert (tmp_path / "place" / "content").read_text(encoding="utf-8") == "whole"
    assert not built[0].exists()


def test_leaves_nothing_of_a_failed_build(tmp_path: Path) -> None:
    """A build that raises leaves no place and no half-made folder, and the next one works."""

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        made_once(tmp_path / "place", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["place.lock"]
    assert made_once(tmp_path / "place", lambda folder: (folder / "whole").touch()).is_dir()


def test_removes_what_a_killed_builder_left(tmp_path: Path) -> None:
    """The folder of a builder that was killed is removed by the next builder."""
    left = tmp_path / "place.building-killed"
    left.mkdir()
    made_once(tmp_path / "place", lambda folder: (folder / "whole").touch())
    assert not left.exists()


def test_key_tells_parts_apart() -> None:
    """The key depends on each part and on where one ends and the next begins."""
    assert key("a", "b") == key("a", b"b")
    assert len({key("ab"), key("a", "b"), key("b", "a"), key("ab", "")}) == 4


def test_contents_see_names_and_bytes(tmp_path: Path) -> None:
    """Renaming a file changes the key of a folder as much as editing it does."""
    (tmp_path / "one").write_text("x", encoding="utf-8")
    before = key(*contents(tmp_path))
    (tmp_path / "one").rename(tmp_path / "two")
    renamed = key(*contents(tmp_path))
    (tmp_path / "two").write_text("y", encoding="utf-8")
    assert len({before, renamed, key(*contents(tmp_path))}) == 3
