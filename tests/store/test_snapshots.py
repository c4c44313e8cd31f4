"""Rendered scripts as real files: a change shows in review, and shellcheck reads each of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from relight import engines, launchers
from relight.core.attempt import Recipe
from relight.core.desired import Wanted
from relight.core.engine import EngineSpec
from relight.core.language.text_template import render_text
from relight.core.preset import Preset
from relight.core.service import Service
from relight.store.host_script import assemble

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOTS = ROOT / "tests" / "data" / "snapshots"
TEMPLATES = ROOT / "templates"
HOSTILE = 'a\'b "c" $(touch canary) `x` \\ ; # é'


def template(name: str) -> str:
    """Return a shipped template."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def launch_script(engine_version: str, **fields: object) -> str:
    """Return launch.sh for a preset."""
    values = {"model": "/models/m", "served_name": "m", "flags": {"tp-size": 2}, **fields}
    wanted = Wanted(
        service_name="main",
        service=Service(preset="p", port=30000, gpus=(0, 1)),
        port=30000,
        preset_name="p",
        preset=Preset.model_validate(values),
        spec=EngineSpec(python="/opt/sglang/bin/python"),
        engine_version=engine_version,
        launcher="process",
        template=template("launch.sh.j2"),
    )
    variables = wanted.launch_variables(engines.load("sglang"), Recipe())
    return render_text(wanted.template, {}, variables, shell=True)


def host_script(launcher: str) -> str:
    """Return the assembled host script."""
    return assemble(template, launchers.load(launcher)).text.decode()


CASES: dict[str, Callable[[], str]] = {
    "host-process.sh": lambda: host_script("process"),
    "host-systemd.sh": lambda: host_script("systemd"),
    "launch-plain.sh": lambda: launch_script("0.5.10"),
    "launch-secrets.sh": lambda: launch_script("0.5.10", env={"HF_TOKEN": {"env": "HF_TOKEN"}}),
    "launch-secret-flags.sh": lambda: launch_script(
        "0.5.10", secret_flags={"api-key": {"file": "~/.key"}}
    ),
    "launch-hostile.sh": lambda: launch_script(
        "0.5.10", served_name=HOSTILE, env={"NOISE": HOSTILE}, flags={"chat-template": HOSTILE}
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rendered_script_is_what_was_reviewed(name: str) -> None:
    """The script equals its snapshot; `inv test --update` writes it anew after a change."""
    text = CASES[name]()
    place = SNAPSHOTS / name
    if os.environ.get("RELIGHT_UPDATE_SNAPSHOTS"):
        place.write_text(text, encoding="utf-8")
    assert text == place.read_text(encoding="utf-8"), "run inv test --update and read the diff"


@pytest.mark.parametrize("name", CASES)
def test_shellcheck_has_nothing_to_say(name: str) -> None:
    """Every rendered script passes shellcheck, hostile values in it or not."""
    shellcheck = Path(sys.executable).parent / "shellcheck"
    command = [str(shellcheck), "--shell=sh", "-"]
    done = subprocess.run(command, input=CASES[name](), text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_hostile_values_come_out_as_they_went_in() -> None:
    """What the shell hands to the engine is the value itself, byte for byte."""
    script = launch_script("0.5.10", served_name=HOSTILE).replace("exec ", "printf '%s\\n' ", 1)
    done = subprocess.run(["sh"], input=script, text=True, capture_output=True, check=True)
    assert HOSTILE in done.stdout.splitlines()
