"""What an unfinished deploy or a failed rollback leaves, and what the next command does."""

from __future__ import annotations

import json

import pytest

from tests.deadline import until
from tests.deploy.conftest import Rig
from tests.deploy.scenarios import free_port
from tests.deploy.test_known_good import a_model

PROMOTED_AND_THEN_LOST = [
    {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
            {"facts": {"service": "main"}, "register": "seen"},
            {
                "switch": {"service": "main", "seen": "{{ seen }}", "port": "{{ port }}"},
                "register": "switched",
            },
            {
                "shell": 'cd "$HOME/.relight/main" && {{ link }} && rm -f lock/held'
                " && echo $(({{ switched.fence }} + 1)) >fence",
            },
            {
                "promote": {
                    "service": "main",
                    "fence": "{{ switched.fence }}",
                    "release": "{{ switched.release }}",
                },
                "register": "promoted",
                "ignore_errors": True,
            },
            {"finish": {"service": "main", "fence": "{{ switched.fence }}"}},
        ],
    }
]
"""A deploy whose host lost its power while it promoted: `link` is what had happened by then."""
LONG = {"benchmark": {"requests": 200, "max_tokens": 2000}}


@pytest.fixture(autouse=True)
def _own_port(rig: Rig) -> None:
    """Let no other test take the port between two launches."""
    rig.port = free_port()
    rig.host_vars = {"lock_lease": 2}
    rig.write()


def left_by_a_killed_first_deploy(rig: Rig) -> int:
    """Kill the controller of a first deploy in its benchmark; return the pid that serves on."""
    rig.write(LONG)
    controller = rig.start("deploy", "--host", rig.host)
    ledger = rig.store() / "ledger.jsonl"
    try:
        until(lambda: ledger.exists() and '"ready"' in ledger.read_text(), 60, "a ready server")
    finally:
        controller.kill()
        controller.communicate()
    until(lambda: '"left_unconfirmed"' in ledger.read_text(), 60, "the host leaving it")
    pid = rig.observed().pid
    assert pid is not None
    return pid


def test_a_server_left_unconfirmed_is_proved_and_promoted_without_a_restart(rig: Rig) -> None:
    """The next deploy of the same preset finds it, says so, and starts nothing."""
    pid = left_by_a_killed_first_deploy(rig)
    assert rig.observed().known_good is None
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    assert "was running unconfirmed and is ready; it was not started anew" in ended.out
    seen = rig.observed()
    assert seen.pid == pid
    assert seen.confirmed
    assert seen.launch == 1
    assert (seen.deadman, seen.locked) == ("none", False)


def test_a_server_left_unconfirmed_gives_way_to_another_preset(rig: Rig) -> None:
    """It was never proved, so nothing is returned to; the wanted one is started in its place."""
    pid = left_by_a_killed_first_deploy(rig)
    ended = rig.deploy("--no-benchmark", "--set", "max-running-requests=3")
    assert ended.code == 0, ended.everything
    seen = rig.observed()
    assert seen.pid != pid
    assert seen.confirmed
    assert rig.answers() == "tiny"


def test_a_rollback_to_what_no_longer_starts_returns_to_known_good(rig: Rig) -> None:
    """The wish failed and the host serves: exit 3, both said, known-good is what it was."""
    rig.write({"model": a_model(rig, "old")})
    assert rig.deploy("--no-benchmark").code == 0
    old = rig.observed().current
    rig.write({"model": "standin/other"})
    assert rig.deploy("--no-benchmark").code == 0
    good = rig.observed().current
    assert old
    (rig.home / "models" / "old").rename(rig.home / "models" / "moved")
    ended = rig.run("rollback", "--host", rig.host, "--to", old)
    said = " ".join(ended.everything.split())
    assert ended.code == 3, said
    assert f"{old} was started and does not serve" in said
    assert f"rolled back to {good}; it serves" in said
    seen = rig.observed()
    assert (seen.current, seen.known_good, seen.confirmed) == (good, good, True)
    assert (seen.deadman, seen.locked) == ("none", False)


@pytest.mark.parametrize(
    ("link", "code"),
    [("ln -sfn releases/{{ switched.release }} known-good", 0), (":", 3)],
    ids=["after the link", "before the link"],
)
def test_a_lock_that_is_lost_in_the_promotion(rig: Rig, link: str, code: int) -> None:
    """What was promoted before the host lost its power is told as that, and nothing else is."""
    book = rig.folder / "lost.yml"
    book.write_text(json.dumps(PROMOTED_AND_THEN_LOST).replace("{{ link }}", link))
    assert rig.deploy("--no-benchmark").code == 0
    rig.write({"flags": {"context-length": 2048, "mem-fraction-static": 0.5}})
    ended = rig.run("play", "--playbook", str(book), "-e", json.dumps({"port": rig.port}))
    said = " ".join(ended.everything.split())
    assert ended.code == code, said
    assert ("was promoted before the lock was lost" in said) == (code == 0)
