"""Ring 2: the whole transaction through the local connection, against the stand-in engine."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import httpx

from tests.deploy.conftest import Rig


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_first_deploy_serves_and_is_known_good(rig: Rig) -> None:
    """From nothing to a promoted release that answers a chat request."""
    ended = rig.deploy()
    assert ended.code == 0, ended.everything
    seen = rig.observed()
    assert seen.confirmed
    assert seen.release is not None
    assert seen.release.served_name == "tiny"
    url = f"http://127.0.0.1:{seen.release.port}/v1/chat/completions"
    body = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 8}
    answer = httpx.post(url, json=body, timeout=10).json()
    assert answer["choices"][0]["message"]["content"]
    events = [entry.event for entry in seen.ledger.entries]
    assert [name for name in events if name in ("locked", "started", "ready", "promoted")] == [
        "locked",
        "started",
        "ready",
        "promoted",
    ]


def test_the_second_deploy_changes_nothing(rig: Rig) -> None:
    """Same process, same bytes in the store, recap without a change, exit code 0."""
    rig.deploy()
    before, files = rig.observed(), bytes_of(rig.store())
    ended = rig.deploy()
    after = rig.observed()
    assert ended.code == 0, ended.everything
    assert "changed=0" in ended.out
    assert (after.pid, after.launch) == (before.pid, before.launch)
    changed = {
        name
        for name, data in bytes_of(rig.store()).items()
        if files.get(name) != data and "server.log" not in name
    }
    assert changed == set()


def test_a_changed_flag_makes_a_new_release(rig: Rig) -> None:
    """`--set` changes one deploy, and the release says so."""
    rig.deploy()
    first = rig.observed()
    ended = rig.deploy("--set", "mem-fraction-static=0.6")
    second = rig.observed()
    assert ended.code == 0, ended.everything
    assert second.current != first.current
    assert second.confirmed
    assert second.release is not None
    assert second.release.flags["mem-fraction-static"] == 0.6
    assert second.pid != first.pid


def test_rollback_serves_the_stored_bytes(rig: Rig) -> None:
    """`rollback --to` starts the earlier release with its own bytes, rendering nothing."""
    rig.deploy()
    first = rig.observed()
    launch_sh = (rig.store() / "current" / "launch.sh").read_bytes()
    rig.deploy("--set", "mem-fraction-static=0.6")
    (rig.folder / "inventory" / "presets" / "tiny.yml").write_text(
        json.dumps({"model": "standin/other", "served_name": "tiny"})
    )
    assert first.current is not None
    ended = rig.run("rollback", "--host", rig.host, "--to", first.current)
    assert ended.code == 0, ended.everything
    seen = rig.observed()
    assert seen.current == first.current
    assert seen.confirmed
    assert (rig.store() / "current" / "launch.sh").read_bytes() == launch_sh


def test_a_layer_that_kills_the_launch_ends_degraded(rig: Rig) -> None:
    """language-only as a layer is dropped by kill and relaunch, told, and exit code 0."""
    rig.write({"layers": {"text-only": {"flags": {"language-only": True}}}})
    ended = rig.deploy("--no-preflight")
    seen = rig.observed()
    assert ended.code == 0, ended.everything
    assert "degraded=1" in ended.out
    assert "--encoder-urls" in ended.out
    assert seen.confirmed
    assert seen.release is not None
    assert [one.what for one in seen.release.gave_up] == ["layer text-only"]
    again = rig.deploy("--no-preflight")
    assert again.code == 0
    assert "changed=0" in again.out


def test_strict_rolls_a_degraded_server_back(rig: Rig) -> None:
    """With --strict a degraded launch fails the deploy, and known-good serves again: exit 3."""
    rig.deploy()
    good = rig.observed().current
    rig.write({"layers": {"text-only": {"flags": {"language-only": True}}}})
    ended = rig.deploy("--no-preflight", "--strict")
    assert ended.code == 3, ended.everything
    seen = rig.observed()
    assert seen.current == good
    assert seen.confirmed


def test_a_failed_deploy_brings_known_good_back(rig: Rig) -> None:
    """A base flag that kills the launch: exit 3, and what served before serves again."""
    rig.deploy()
    good = rig.observed().current
    ended = rig.deploy("--no-preflight", "--set", "language-only=true")
    assert ended.code == 3, ended.everything
    seen = rig.observed()
    assert seen.current == good
    assert seen.confirmed
    assert rig.answers() == "tiny"
    assert "rolled back" in rig.run("status", "--host", rig.host).out


def test_a_first_deploy_that_fails_is_dark_and_says_so(rig: Rig) -> None:
    """Without a known-good there is nothing to return to: exit 5, nothing left running."""
    ended = rig.deploy("--no-preflight", "--set", "language-only=true")
    assert ended.code == 5, ended.everything
    assert rig.observed().pids == ()


def test_a_foreign_process_on_the_port_is_named_and_left_alone(rig: Rig) -> None:
    """Preflight refuses while the old server serves, names the holder, and touches nothing."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        rig.write(None, main={"preset": "tiny", "port": port})
        ended = rig.deploy()
        assert ended.code == 2, ended.everything
        assert "not relight's" in ended.out
        assert "pid " in ended.out
        assert taken.fileno() != -1
    assert rig.observed().launch == 0


def test_plan_changes_nothing(rig: Rig) -> None:
    """Neither a first plan nor a later one writes anything on the host."""
    first = rig.run("plan", "--host", rig.host)
    assert first.code == 0, first.everything
    assert "exec python3 -m sglang.launch_server" in first.out
    assert not (rig.home / ".relight").exists()
    rig.deploy()
    before = bytes_of(rig.store())
    second = rig.run("plan", "--host", rig.host, "--set", "mem-fraction-static=0.7")
    assert second.code == 0, second.everything
    assert "+exec" in second.out
    after = bytes_of(rig.store())
    assert {name for name in before if before[name] != after.get(name)} <= {
        name for name in before if name.endswith("server.log")
    }


def test_stop_stays_stopped_until_a_restart(rig: Rig) -> None:
    """`stop` takes it down on purpose; `status` says so; `restart` brings the same bytes back."""
    rig.deploy()
    release = rig.observed().current
    assert rig.run("stop", "--host", rig.host).code == 0
    assert rig.observed().state == "stopped"
    assert "stopped" in rig.run("status", "--host", rig.host).out
    ended = rig.run("restart", "--host", rig.host)
    assert ended.code == 0, ended.everything
    seen = rig.observed()
    assert seen.current == release
    assert seen.confirmed


def test_events_are_json_lines(rig: Rig) -> None:
    """`--json` prints one event a line, the recap last, with the exit code in it."""
    ended = rig.deploy("--json")
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert events[-1]["kind"] == "recap"
    assert events[-1]["exit_code"] == ended.code == 0
    assert {"play", "task", "progress", "attempt"} <= {event["kind"] for event in events}
