"""The same deploy with pyinfra: an operation for each step, none to spare."""

import json
import os
from pathlib import Path

from pyinfra.operations import files, server  # type: ignore[import-not-found]

HERE = Path(__file__).parent
GIVEN = json.loads(os.environ["GIVEN"])
HOME, RELEASE = GIVEN["home"], GIVEN["release"]

CHECK = (
    f"PYTHONPATH={GIVEN['engine']} {GIVEN['python']} -m sglang.srt.server_args "
    f"--model-path bench/tiny --max-running-requests {GIVEN['requests']} --context-length 4096"
)


def script(name: str) -> str:
    """Return one of the scripts that all tools run, in the service's folder."""
    return f"cd {HOME} && {{\n{(HERE / name).read_text()}\n}}"


files.directory(name="Folder of the release", path=f"{HOME}/releases/{RELEASE}", mode="755")
for file in ("launch.sh", "release.json"):
    files.template(
        name=file,
        src=str(HERE / f"{file}.j2"),
        dest=f"{HOME}/releases/{RELEASE}/{file}",
        mode="644",
        **GIVEN,
    )
if GIVEN["checks"]:
    server.shell(
        name="The engine checks the flags",
        commands=[CHECK],
    )
server.shell(name="Stop the old server", commands=[script("stop.sh")])
files.link(name="Current", path=f"{HOME}/current", target=f"releases/{RELEASE}")
server.shell(name="Start it", commands=[script("start.sh")])
server.shell(name="Wait until it is ready", commands=[script("ready.sh")])
server.shell(
    name="It serves the model",
    commands=[f'curl -fsS http://127.0.0.1:{GIVEN["port"]}/v1/models | grep -q \'"id": "tiny"\''],
)
files.link(name="Known-good", path=f"{HOME}/known-good", target=f"releases/{RELEASE}")
