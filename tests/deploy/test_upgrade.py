"""upgrade-engine: a new environment beside the old one, filled from a wheel without a network."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from relight.standin.archive import build
from tests.deploy.conftest import FAST, Ended, Rig
from tests.deploy.scenarios import free_port

pytestmark = pytest.mark.scenarios

OLD, NEW = "0.5.10", "0.5.23"
RENAMED = {"context-length": 4096, "mem-fraction-static": 0.5, "cuda-graph-max-bs": 8}
"""Flags of the old version, one of which the new one has under another name."""


@pytest.fixture(autouse=True)
def _own_port(rig: Rig) -> None:
    rig.port = free_port()
    rig.write()


def wheel(version: str, folder: Path) -> Path:
    """Write the stand-in as the wheel of one version of sglang, and return its path."""
    with zipfile.ZipFile(io.BytesIO(build(version))) as packed:
        files = {name: packed.read(name) for name in packed.namelist() if name != "__main__.py"}
    about = f"sglang-{version}.dist-info"
    files[f"{about}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: relight\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*lines, f"{about}/RECORD,,", ""]).encode()
    path = folder / f"sglang-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as written:
        for name, data in files.items():
            written.writestr(name, data)
    return path


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def upgrade(rig: Rig, version: str = NEW, *options: str, **more: Any) -> Ended:
    """Run the playbook, for an environment that is named after the version."""
    given = {
        "relight_engine": {"python": f"~/engines/{version}/bin/python", "env": FAST},
        "package": str(wheel(version, rig.home)),
        "pip_options": "--no-index --quiet",
        "needs_gb": 0.01,
        "measure": False,
        **more,
    }
    words = ("play", "--playbook", "upgrade-engine", "--limit", rig.host, *options)
    return rig.run(*words, "-e", json.dumps(given), timeout=600)


def with_old_engine(rig: Rig) -> None:
    """Serve from an environment of the old version, made the same way."""
    rig.write({"flags": RENAMED})
    new = json.loads((rig.folder / "inventory/presets/tiny.yml").read_text())
    new["flags"] = {name: value for name, value in RENAMED.items() if name != "cuda-graph-max-bs"}
    new["flags"]["cuda-graph-max-bs-decode"] = 8
    (rig.folder / "inventory/presets/twin.yml").write_text(json.dumps(new))
    ended = upgrade(rig, OLD)
    assert ended.code == 0, ended.everything
    assert version_of(rig) == OLD


def twin(rig: Rig) -> dict[str, Any]:
    """Return services that name the preset with the new version's flags."""
    return {"main": {"preset": "twin", "port": rig.port}}


def version_of(rig: Rig) -> str:
    """Return the engine's version that the current release names."""
    release = rig.observed().release
    assert release is not None
    return release.engine_version


def test_an_upgrade_fills_a_new_environment_and_serves_from_it(rig: Rig) -> None:
    """What failed to install is filled anew; preflight finds renamed flags; the twin serves."""
    with_old_engine(rig)
    before = rig.observed()
    checked = upgrade(rig, NEW, "--check", relight_services=twin(rig))
    assert checked.code == 0, checked.everything
    assert "would be made and filled" in checked.out
    assert not (rig.home / "engines" / NEW).exists()

    broken = upgrade(rig, package="/nowhere/sglang-0.5.23-py3-none-any.whl")
    assert broken.code == 2, broken.everything
    assert "Install the engine: failed" in broken.out

    refused = upgrade(rig)
    assert refused.code == 2, refused.everything
    assert "cuda-graph-max-bs" in refused.out
    assert (rig.observed().pid, version_of(rig)) == (before.pid, OLD)

    ended = upgrade(rig, relight_services=twin(rig))
    assert ended.code == 0, ended.everything
    assert "Install the engine: skipped" in ended.out
    assert version_of(rig) == NEW
    assert rig.observed().confirmed
    assert rig.answers() == "tiny"
    assert (rig.home / "engines" / OLD / "bin" / "python").exists()


def test_a_new_engine_that_fails_leads_back_to_the_old_environment(rig: Rig) -> None:
    """Exit 3, and the old release serves, from the environment that it names."""
    with_old_engine(rig)
    good = rig.observed().current
    crash = {**FAST, "RELIGHT_STANDIN_SCENARIO": "oom_weights"}
    engine = {"python": f"~/engines/{NEW}/bin/python", "env": crash}
    ended = upgrade(rig, relight_services=twin(rig), relight_engine=engine)
    assert ended.code == 3, ended.everything
    seen = rig.observed()
    assert (seen.current, seen.confirmed) == (good, True)
    assert version_of(rig) == OLD
    assert rig.answers() == "tiny"


def test_an_environment_that_serves_is_never_filled_again(rig: Rig) -> None:
    """Another package for a filled folder, or a folder of somebody else, is refused: exit 2."""
    with_old_engine(rig)
    engine = {"python": f"~/engines/{OLD}/bin/python", "env": FAST}
    other = upgrade(rig, relight_engine=engine)
    assert other.code == 2, other.everything
    assert "a folder of its own" in other.out
    theirs = rig.home / "theirs" / "bin" / "python"
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    foreign = upgrade(rig, relight_engine={"python": str(theirs), "env": FAST})
    assert foreign.code == 2, foreign.everything
    assert "was not made by this playbook" in foreign.out
    assert theirs.read_bytes() == b""


def test_an_upgrade_that_names_nothing_new_is_refused(rig: Rig) -> None:
    """Without package or a whole path of the new Python nothing is made on the host."""
    ended = rig.run("play", "--playbook", "upgrade-engine", "--limit", rig.host)
    assert ended.code == 2, ended.everything
    assert "say -e package=" in ended.out
    assert not any(rig.home.iterdir())
