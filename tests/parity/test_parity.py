"""The same playbooks leave the same files, counts and values as with ansible-core."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parity.two_runs import BOOKS, HERE, book, by_ansible, by_relight, differences, folder
from tests.parity.web import serving

pytestmark = pytest.mark.parity


@pytest.fixture(scope="session")
def ansible() -> Path:
    """Return the environment of ansible-core, made when it is not there."""
    made = subprocess.run(
        [str(HERE / "ansible.sh")], capture_output=True, text=True, timeout=600, check=False
    )
    if made.returncode:
        why = f"ansible-core cannot be installed: {made.stderr[-300:]}"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{why}; CI must not go without it")
        pytest.skip(why)
    return Path(made.stdout.strip())


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """Serve the answers that `uri` asks for."""
    with serving() as number:
        yield number


@pytest.mark.parametrize("path", sorted(BOOKS.glob("[0-9]*.yml")), ids=lambda path: path.stem)
def test_both_leave_the_same(path: Path, ansible: Path, port: int) -> None:
    """Files, modes, recap, exit code and registered values are those of ansible-core."""
    one = book(path)
    with folder(path.stem) as out:
        theirs = by_ansible(one, out, port, ansible)
    with folder(path.stem) as out:
        ours = by_relight(one, out, port)
    assert differences(ours.__dict__, theirs.__dict__) == []
