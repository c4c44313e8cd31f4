"""Ring 5: the environments and the tiny model are a real SGLang that starts, answers and stops."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.deadline import until
from tests.real.environment import HERE, VERSIONS, ensure, model
from tests.real.server import Server, serving

pytestmark = pytest.mark.real

CHAT = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "hello"}],
    "max_tokens": 16,
    "ignore_eos": True,
}
# An idle server drains in up to 5 s on free cores.
STOP_SECONDS = 60


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each SGLang version that has a lock."""
    return str(request.param)


@pytest.fixture(scope="module")
def server(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of that version, ready."""
    with serving(version, tmp_path_factory.mktemp("server") / "server.log") as started:
        yield started


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


def test_answers_chat_completions(server: Server) -> None:
    """A chat request is answered with as many tokens of printable text as it asked for."""
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=CHAT, timeout=60)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["usage"]["completion_tokens"] == 16
    text = body["choices"][0]["message"]["content"]
    assert text
    assert text.replace("\n", "").isascii()
    assert text.replace("\n", "").isprintable()


def test_streams(server: Server) -> None:
    """A streamed request comes in many chunks that carry text, and says that it is done."""
    with httpx.stream(
        "POST", f"{server.url}/v1/chat/completions", json={**CHAT, "stream": True}, timeout=60
    ) as answer:
        lines = [line for line in answer.iter_lines() if line]
    assert len(lines) > 8
    assert lines[-1] == "data: [DONE]"


def test_serves_the_tiny_model(server: Server) -> None:
    """The model list names the served model alone, and the metrics are there."""
    models = httpx.get(f"{server.url}/v1/models", timeout=60).json()
    assert [entry["id"] for entry in models["data"]] == ["tiny"]
    assert "sglang:num_running_reqs" in httpx.get(f"{server.url}/metrics", timeout=60).text


def test_stops_on_sigterm_and_leaves_nothing(server: Server) -> None:
    """SIGTERM to the main process drains and ends the whole session; its port is free again."""
    assert len(server.members()) >= 3
    server.process.send_signal(signal.SIGTERM)
    # Reaped here: SGLang 0.5.10 kills its own tree in the end (-9), 0.5.23 exits with 0.
    assert server.process.wait(STOP_SECONDS) in {0, -signal.SIGKILL}
    until(lambda: not server.members(), 10, "an empty session")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/health", timeout=5)


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
