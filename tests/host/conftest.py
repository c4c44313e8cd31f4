"""Services with the real host script, one for each test, ended afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.host.served import Served, script_text


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Return a service in a folder of its own, with nothing in it but the script."""
    folder = tmp_path / ".relight" / "main"
    folder.mkdir(parents=True)
    (folder / "host.sh").write_text(script_text())
    service = Served(folder)
    yield service
    service.end()
