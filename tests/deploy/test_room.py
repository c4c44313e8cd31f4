"""GPU memory that stays taken after the stop: nothing is launched, and the holder is named."""

from __future__ import annotations

import json
import os
import stat

from tests.deploy.conftest import Rig

ROW = "0, NVIDIA RTX A6000, GPU-1, 49140, {used}, 8.6, 550.1, 4, 4, 16, 16, 0"
PLAY = [
    {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
            {"facts": {"service": "main"}, "register": "seen"},
            {
                "switch": {
                    "service": "main",
                    "seen": "{{ seen }}",
                    "port": "{{ port }}",
                    "weights_mib": 27000,
                    "set": "{{ changes }}",
                },
                "register": "switched",
            },
        ],
    }
]
"""The verb alone: what preflight hands it comes from the driver's own library, absent here."""


def fake_driver(rig: Rig, used: int, used_later: int | None = None) -> None:
    """Put an nvidia-smi on the host's path: it tells `used` once, then `used_later`."""
    folder = rig.home / "bin"
    folder.mkdir(exist_ok=True)
    later = used if used_later is None else used_later
    tool = folder / "nvidia-smi"
    tool.write_text(
        "#!/bin/sh\n"
        'case "$*" in *query-gpu=index*) ;; *) exit 0 ;; esac\n'
        f"if [ -e {rig.home}/asked ]; then echo '{ROW.format(used=later)}'; exit; fi\n"
        f": >{rig.home}/asked\n"
        f"echo '{ROW.format(used=used)}'\n"
    )
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    rig.env["PATH"] = f"{folder}:{os.environ['PATH']}"


def switch(rig: Rig, **changes: object) -> tuple[int, str]:
    """Switch to a changed flag, by the verb alone."""
    book = rig.folder / "switch.yml"
    book.write_text(json.dumps(PLAY))
    extra = json.dumps({"port": rig.port, "changes": changes})
    ended = rig.run("play", "--playbook", str(book), "-e", extra)
    return ended.code, " ".join(ended.everything.split())


def test_nothing_is_launched_without_room_and_the_holder_is_named(rig: Rig) -> None:
    """A GPU that stays full is found before the launch, which could only fail."""
    fake_driver(rig, 40000)
    code, said = switch(rig)
    assert code == 2, said
    assert "GPU 0 has 9140 of 49140 MiB free, and the weights alone take 27000" in said
    assert "nothing was launched" in said
    assert rig.observed().launch == 0


def test_memory_that_comes_back_late_is_waited_for(rig: Rig) -> None:
    """A driver gives memory back a moment after its process is gone: no reason to give up."""
    fake_driver(rig, 40000, 4)
    code, said = switch(rig)
    assert code == 0, said
    assert rig.observed().state == "running"
