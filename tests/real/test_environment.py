"""Ring 5: an environment is the SGLang that it says, made once, or it is said what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.environment import HERE, VERSIONS, ensure, model

pytestmark = pytest.mark.real


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each SGLang version that has a lock."""
    return str(request.param)


def test_is_the_version_it_says(version: str) -> None:
    """The environment's python loads the SGLang of the lock, on the CPU, with nothing set."""
    question = (
        "import os, sglang, torch; "
        "print(sglang.__version__, torch.version.cuda, os.environ['SGLANG_USE_CPU_ENGINE'])"
    )
    answer = subprocess.run(
        [ensure(version), "-c", question], env={}, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == [version, "None", "1"]


def test_is_made_once(version: str) -> None:
    """The command prints the same path again at once, and nothing else, on its standard output."""
    script = HERE / "environment.py"
    answers = [
        subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=True)
        for words in (("ensure", version), ("model",))
    ]
    assert [Path(answer.stdout.strip()) for answer in answers] == [ensure(version), model()]


def test_refuses_a_version_without_a_lock() -> None:
    """An unknown version is refused with the versions that there are."""
    answer = subprocess.run(
        [sys.executable, HERE / "environment.py", "ensure", "0.4.0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 2
    assert "0.5.10" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_says_what_is_missing_and_leaves_nothing(tmp_path: Path) -> None:
    """Where pip finds no package, the last line says what helps, and nothing half-made stays."""
    nothing = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    answer = subprocess.run(
        [sys.executable, HERE / "environment.py", "ensure", "0.5.10"],
        env={**os.environ, **nothing, "RELIGHT_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 1
    assert "PIP_FIND_LINKS" in answer.stderr.splitlines()[-1]
    assert "Traceback" not in answer.stderr
    assert not answer.stdout
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]
