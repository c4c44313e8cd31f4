"""Rings 4 and 5 together: the same environments on a real systemd host, bound read-only."""

import json
from collections.abc import Iterator

import pytest

from tests.deadline import until
from tests.real.environment import VERSIONS, ensure, model
from tests.real.server import READY_LINE, READY_SECONDS, command
from tests.testbed.bed import Testbed
from tests.testbed.fixtures import lent
from tests.testbed.node import Bind

pytestmark = [pytest.mark.real, pytest.mark.testbed]

PORT = 30000


@pytest.fixture(scope="module")
def bed() -> Iterator[Testbed]:
    """A host that sees each environment as /opt/sglang-VERSION and the model as /opt/tiny-qwen3."""
    binds = [Bind(str(ensure(v).parents[1]), f"/opt/sglang-{v}") for v in VERSIONS]
    binds.append(Bind(str(model()), "/opt/tiny-qwen3"))
    with lent("real") as bed:
        bed.up(1, binds)
        yield bed


@pytest.mark.parametrize("version", VERSIONS)
def test_serves_as_a_unit(bed: Testbed, version: str) -> None:
    """An ordinary user's systemd unit serves the tiny model with this SGLang, and stops clean."""
    words = command(f"/opt/sglang-{version}/bin/python", "/opt/tiny-qwen3", PORT)
    # Collected: 0.5.10 kills its own tree when it is stopped, which leaves a failed unit behind.
    start = "sudo systemd-run --quiet --collect --unit=engine --uid=relight"
    place = f"--setenv=HOME=/home/relight -p StandardOutput=file:/tmp/{version}"
    started = bed.ssh(1, f"{start} {place} {' '.join(words)}")
    assert started.returncode == 0, started.stderr

    def ready() -> bool:
        assert bed.ssh(1, "systemctl is-active engine").stdout == "active\n", log()
        return READY_LINE in log()

    def log() -> str:
        return bed.ssh(1, f"cat /tmp/{version}; sudo journalctl -u engine -n 20").stdout

    until(ready, READY_SECONDS, f"{READY_LINE} on the host", every=0.5)
    ask = f"curl -sS --max-time 30 http://127.0.0.1:{PORT}"
    models = json.loads(bed.ssh(1, f"{ask}/v1/models").stdout)
    assert [entry["id"] for entry in models["data"]] == ["tiny"]
    body = json.dumps({"model": "tiny", "prompt": "hello", "max_tokens": 8, "ignore_eos": True})
    header = "-H 'content-type: application/json'"
    answer = json.loads(bed.ssh(1, f"{ask}/v1/completions {header} -d '{body}'").stdout)
    assert answer["usage"]["completion_tokens"] == 8
    assert bed.ssh(1, "sudo systemctl stop engine").returncode == 0
    assert bed.ssh(1, "pgrep -u relight -f '[s]glang'").returncode == 1
