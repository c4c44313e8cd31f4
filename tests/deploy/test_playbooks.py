"""The playbooks beside deploy that look, drain and fetch, on the stand-in."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.deadline import until
from tests.deploy.conftest import FAST, Ended, Rig
from tests.deploy.scenarios import free_port

pytestmark = pytest.mark.scenarios


@pytest.fixture(autouse=True)
def _own_port(rig: Rig) -> None:
    rig.port = free_port()
    rig.write()


def words(rig: Rig, name: str, **extra: Any) -> tuple[str, ...]:
    """Return the words that play a shipped playbook on the rig's host."""
    return ("play", "--playbook", name, "--limit", rig.host, "-e", json.dumps(extra))


def play(rig: Rig, name: str, **extra: Any) -> Ended:
    """Run a shipped playbook on the rig's host."""
    return rig.run(*words(rig, name, **extra), timeout=400)


class Request(threading.Thread):
    """A chat request that takes a while; `answer` is what came of it."""

    def __init__(self, rig: Rig, tokens: int) -> None:
        super().__init__(daemon=True)
        release = rig.observed().release
        assert release is not None
        self._base, self._tokens = f"http://127.0.0.1:{release.port}", tokens
        self.answer: dict[str, Any] = {}

    def run(self) -> None:
        """Ask, and keep the answer; a server that is stopped gives none."""
        body = {
            "model": "tiny",
            "messages": [{"role": "user", "content": "hi"}],
            "max_tokens": self._tokens,
            "ignore_eos": True,
        }
        with contextlib.suppress(httpx.HTTPError):
            got = httpx.post(f"{self._base}/v1/chat/completions", json=body, timeout=400)
            self.answer = got.json()

    def is_served(self) -> bool:
        """Return whether the server counts it."""
        loads = httpx.get(f"{self._base}/v1/loads", timeout=30).json()["loads"]
        return sum(int(load["num_total_reqs"]) for load in loads) > 0


def slowly(rig: Rig) -> None:
    """Deploy a server that takes 20 ms a token."""
    env = {**FAST, "RELIGHT_STANDIN_STEP_MS": "20"}
    rig.host_vars["relight_engine"] = {"python": "python3", "archive": "standin", "env": env}
    rig.write()
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything


def test_doctor_passes_a_host_where_nothing_is_wrong(rig: Rig) -> None:
    """Exit 0, and nothing is left on the host."""
    ended = play(rig, "doctor")
    assert ended.code == 0, ended.everything
    assert "nothing stands in the way" in ended.out
    assert not (rig.home / ".relight").exists()


def test_doctor_names_each_fault_and_what_to_do(rig: Rig) -> None:
    """Exit 2: the engine and the weights are not there, and both are told."""
    rig.host_vars["relight_engine"] = {"python": "/nowhere/bin/python"}
    rig.write({"model": "/nowhere/model"})
    ended = play(rig, "doctor")
    assert ended.code == 2, ended.everything
    assert "fault: weights: the model's folder: missing; check the preset's model" in ended.out
    assert "fault: engine: " in ended.out


def test_drain_lets_the_last_answer_finish_and_stops(rig: Rig) -> None:
    """It looks again until nobody is served; the answer is whole; then the service is down."""
    slowly(rig)
    asked = Request(rig, 2000)
    asked.start()
    until(asked.is_served, 30, "the request to be counted")
    ended = rig.run(*words(rig, "drain", limit=300, every=1), "--json", timeout=400)
    asked.join(30)
    assert ended.code == 0, ended.everything
    assert asked.answer["choices"][0]["finish_reason"] == "length"
    tasks = [json.loads(line) for line in ended.out.splitlines()]
    waited = next(one for one in tasks if one["kind"] == "task" and one["module"] == "uri")
    assert waited["values"]["attempts"] > 1
    assert rig.observed().state == "stopped"


def test_drain_gives_up_at_its_limit_unless_told_to_stop_anyway(rig: Rig) -> None:
    """Who is still served at the limit keeps the server, exit 2; with `anyway` it goes."""
    slowly(rig)
    before = rig.observed().pid
    asked = Request(rig, 4000)
    asked.start()
    until(asked.is_served, 30, "the request to be counted")
    ended = play(rig, "drain", limit=1, every=1)
    assert ended.code == 2, ended.everything
    assert rig.observed().pid == before
    assert asked.is_served()
    forced = play(rig, "drain", limit=1, every=1, anyway=True)
    assert forced.code == 0, forced.everything
    assert "ignored=1" in forced.out
    assert rig.observed().state == "stopped"


def fetched(rig: Rig, command: str, **more: Any) -> dict[str, Any]:
    """Return the variables of a fetch by a command of the test's own."""
    into = rig.home / "models" / "small"
    given = {"model": "maker/small", "into": "~/models/small", "needs_gb": 0.001, "every": 1}
    assert into.parent == rig.home / "models"
    return {**given, "fetch": command, **more}


def test_a_fetch_that_breaks_is_resumed_and_complete_at_once(rig: Rig) -> None:
    """A broken fetch leaves no half model; the next goes on from there; a third does nothing."""
    into = rig.home / "models" / "small"
    first = "echo part > one; echo no such host >&2; exit 7"
    broken = play(rig, "fetch-model", **fetched(rig, first))
    assert broken.code == 2, broken.everything
    assert "no such host" in broken.out
    assert not into.exists()
    second = "grep part one && head -c 3000000 /dev/zero > two && echo '{}' > config.json"
    whole = play(rig, "fetch-model", **fetched(rig, second))
    assert whole.code == 0, whole.everything
    assert "MB of 0.001 GB" in whole.out
    assert sorted(path.name for path in into.iterdir()) == ["config.json", "one", "two"]
    assert [path.name for path in into.parent.iterdir()] == ["small"]
    again = play(rig, "fetch-model", **fetched(rig, "exit 9"))
    assert again.code == 0, again.everything
    assert "changed=0" in again.out


def test_a_fetch_goes_on_without_its_watcher(rig: Rig) -> None:
    """At the limit the watcher leaves with 2; the next one finds it under way, and waits for it."""
    go = rig.home / "go"
    command = f"until [ -e {go} ]; do sleep 0.2; done; echo '{{}}' > config.json"
    left = play(rig, "fetch-model", **fetched(rig, command, limit=1))
    assert left.code == 2, left.everything
    assert "it was killed, or runs on" in left.out
    process = rig.start(*words(rig, "fetch-model", **fetched(rig, "exit 9")))
    assert process.stdout is not None
    told = ""
    while "Fetched so far" not in told:
        line = process.stdout.readline()
        assert line, told
        told += line
    go.touch()
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, told + out + err
    assert "Start, or find it under way: ok" in told
    assert (rig.home / "models" / "small" / "config.json").is_file()


def test_a_fetch_wants_room_first(rig: Rig) -> None:
    """More than the disk has is refused before a byte is fetched."""
    mark: Path = rig.home / "mark"
    ended = play(rig, "fetch-model", **fetched(rig, f"touch {mark}", needs_gb=10**9))
    assert ended.code == 2, ended.everything
    assert "GB are wanted" in ended.out
    assert not mark.exists()


def test_extra_variables_win_over_the_play_and_the_inventory(rig: Rig) -> None:
    """`-e` is stronger than a play's own vars, and than what the host has."""
    rig.host_vars["place"] = "inventory"
    rig.write()
    book = "- hosts: all\n  gather_facts: false\n  vars: {a: play}\n  tasks:\n"
    book += "    - debug: {msg: 'a={{ a }} place={{ place }} b={{ b }}'}\n"
    (rig.folder / "book.yml").write_text(book)
    words = ("play", "--playbook", "book.yml", "-e", "a=1 b=2", "-e", '{"place": "extra"}')
    ended = rig.run(*words)
    assert ended.code == 0, ended.everything
    assert "a=1 place=extra b=2" in ended.out


def test_a_variable_that_nobody_gives_is_found_before_the_run(rig: Rig) -> None:
    """`inv play` refuses with the place of the name, exit 2."""
    book = "- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: {msg: '{{ nowhere }}'}\n"
    (rig.folder / "book.yml").write_text(book)
    ended = rig.run("play", "--playbook", "book.yml")
    assert ended.code == 2, ended.everything
    assert "book.yml:4:" in ended.err
    assert "nowhere" in ended.err
    assert "PLAY" not in ended.out
