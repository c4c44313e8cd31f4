"""Ring 5: playbooks/upgrade-engine.yml takes a host from SGLang 0.5.10 to 0.5.23, and back."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from relight.errors import EXIT_FAILED
from tests.real.environment import base_python, ensure, model
from tests.real.project import preset
from tests.real.rig import Ended, Rig, rig_in

pytestmark = pytest.mark.real

OLD, NEW = "0.5.10", "0.5.23"
BOTH = ">=0.5.10"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A host with 0.5.10, whose preset has a flag that 0.5.23 renamed; and the preset's twin."""
    rig = rig_in(tmp_path, OLD)
    usual = preset(OLD)["flags"]
    rig.lay(engine_version=BOTH, flags=usual | {"cuda-graph-max-bs": 4})
    twin = preset(NEW, flags=usual | {"cuda-graph-max-bs-decode": 4})
    (rig.folder / "inventory" / "presets" / "twin.yml").write_text(json.dumps(twin))
    yield rig
    rig.end()


def wheel(folder: Path) -> Path:
    """Write a wheel that lends an environment the SGLang 0.5.23 of the cache; return its path.

    pip installs it in a second, without a network, where the packages themselves take minutes.
    """
    packages = ensure(NEW).parents[1] / "lib" / "python3.11" / "site-packages"
    about = "lent_sglang-1.dist-info"
    files = {
        "lent_sglang.pth": f"import site; site.addsitedir({str(packages)!r})\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: lent-sglang\nVersion: 1\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},sha256={_digest(text)},{len(text)}" for name, text in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*rows, f"{about}/RECORD,,", ""])
    path = folder / "lent_sglang-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as written:
        for name, text in files.items():
            written.writestr(name, text)
    return path


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def upgrade(rig: Rig, preset_name: str) -> Ended:
    """Run the playbook for an environment of 0.5.23 beside the old one, with this preset."""
    given: dict[str, Any] = {
        "relight_engine": {
            "python": str(rig.folder / "engines" / NEW / "bin" / "python"),
            "model_root": str(model().parent),
        },
        "relight_services": {"main": {"preset": preset_name, "port": rig.port}},
        "base_python": base_python(),
        "package": str(wheel(rig.folder)),
        "pip_options": "--no-index --quiet",
        "needs_gb": 0.01,
        "measure": False,
    }
    words = ("play", "--playbook", "upgrade-engine", "--limit", rig.host)
    return rig.run(*words, "-e", json.dumps(given))


def version(rig: Rig) -> str:
    """Return the version that the server itself tells."""
    return str(httpx.get(f"{rig.url}/server_info", timeout=60).json()["version"])


def test_to_the_new_version_and_back(rig: Rig) -> None:
    """A renamed flag is refused as the old one serves; the twin serves; stored bytes lead back."""
    first = rig.deploy("--no-preflight")
    assert first.code == 0, first.text
    old = rig.served()
    assert version(rig) == OLD

    refused = upgrade(rig, "tiny")
    assert refused.code == EXIT_FAILED, refused.text
    assert "write --cuda-graph-max-bs-decode 4" in refused.text
    assert rig.served() == old

    ended = upgrade(rig, "twin")
    assert ended.code == 0, ended.text
    assert "Install the engine: skipped" in ended.text
    new = rig.served()
    assert new.release == rig.known_good() != old.release
    assert version(rig) == NEW
    assert rig.answers()

    back = rig.on("rollback", "--to", old.release)
    assert back.code == 0, back.text
    assert rig.served().release == rig.known_good() == old.release
    assert version(rig) == OLD
    again = rig.deploy()
    assert again.code == 0, again.text
    assert "changed=0" in again.text
    assert rig.on("stop").code == 0
    assert rig.processes() == []
