"""The same deploy with pyinfra: an operation for each step, none to spare.

Without GIVEN["same"] it is the bare deploy: no lock, no way back, no answers. It does without the
new connection, which pyinfra has no operation for.
"""

import json
import os
import shlex
from pathlib import Path

from pyinfra.operations import files, server  # type: ignore[import-not-found]

HERE = Path(__file__).parent
GIVEN = json.loads(os.environ["GIVEN"])
HOME, RELEASE, SAME = GIVEN["home"], GIVEN["release"], GIVEN["same"]
URL = f"http://127.0.0.1:{GIVEN['port']}"
LONGER = "Reply with one short sentence. 0 7 4 1 8 5 2 9 6 3 " * 25
VARIABLES = {
    "PORT": str(GIVEN["port"]),
    "PYTHON": GIVEN["python"],
    "RELEASE": RELEASE,
    "PYTHONPATH": GIVEN["engine"],
}
CHECK = (
    f"{GIVEN['python']} -m sglang.srt.server_args "
    f"--model-path bench/tiny --max-running-requests {GIVEN['requests']} --context-length 4096"
)


def step(name: str, command: str, *, same: bool = True) -> None:
    """Run a command on the host; one that only the same steps have is left out of the bare ones."""
    if SAME or not same:
        server.shell(name=name, commands=[command], _env=VARIABLES)


def script(name: str, file: str, *, same: bool = True) -> None:
    """Run one of the scripts that all tools run, in the service's folder."""
    step(name, f"cd {HOME} && {{\n{(HERE / file).read_text()}\n}}", same=same)


def ask(name: str, prompt: str) -> None:
    """Ask the server for an answer."""
    messages = [{"role": "user", "content": prompt}]
    body = json.dumps({"model": "tiny", "max_tokens": 96, "messages": messages})
    sent = f"-H 'Content-Type: application/json' -d {shlex.quote(body)}"
    step(name, f"curl -fsS {URL}/v1/chat/completions {sent} | grep -q '\"content\"'")


script("Facts", "facts.sh")
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
    step("The engine checks the flags", CHECK, same=False)
script("Lock", "lock.sh")
script("Arm the dead-man", "arm.sh")
script("Stop the old server", "stop.sh", same=False)
script("The port is free", "port_free.sh")
files.link(name="Current", path=f"{HOME}/current", target=f"releases/{RELEASE}")
script("Start it", "start.sh", same=False)
script("Wait until it is ready", "ready.sh", same=False)
script("The port is its own", "holds_port.sh")
step("It is healthy", f"curl -fsS {URL}/health")
step("It serves the model", f'curl -fsS {URL}/v1/models | grep -q \'"id": "tiny"\'', same=False)
ask("It answers", "Say hello.")
ask("It answers a longer prompt", LONGER)
script("It answers several at once", "at_once.sh")
step("What it made of its flags", f"curl -fsS {URL}/server_info > {HOME}/effective.json")
script("Ledger", "record.sh")
files.link(name="Known-good", path=f"{HOME}/known-good", target=f"releases/{RELEASE}")
script("Disarm the dead-man", "disarm.sh")
script("Prune", "prune.sh")
step("Unlock", f"rm -r {HOME}/lock")
