"""Wrong input: every fault of every file at once, with its place, before a packet is sent."""

from __future__ import annotations

import json
import re
import socket

import pytest

from tests.deploy.conftest import PRESET, Rig


def test_five_faults_in_five_files_come_in_one_run(rig: Rig) -> None:
    """A syntax error and four faults elsewhere: five errors, right places, exit 2, no packet."""
    inventory = rig.folder / "inventory"
    (inventory / "presets" / "tiny.yml").unlink()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.2)
        (inventory / "hosts.yml").write_text(
            "all:\n"
            "  hosts:\n"
            "    box:\n"
            "      ansible_host: 127.0.0.1\n"
            f"      ansible_port: {listener.getsockname()[1]}\n"
            "      relight_engine: {python: python3}\n"
            "      relight_services:\n"
            "        main: {preset: nosuch, port: 30000}\n"
        )
        (inventory / "group_vars").mkdir()
        (inventory / "group_vars" / "all.yml").write_text(
            "a: 1\nrelight_launcher: '{{ nowhere }}'\n"
        )
        (inventory / "presets" / "one.yml").write_text("model: m\nserved_name: s\nflagz: {}\n")
        (inventory / "presets" / "two.yml").write_text("model: m\nserved_name: s\ndrain: soon\n")
        (inventory / "presets" / "three.yml").write_text("model: m\nserved_name: [s\n")
        ended = rig.deploy()
        with pytest.raises(TimeoutError):
            listener.accept()
    assert ended.code == 2, ended.everything
    places = set(re.findall(r"^(\S+\.yml:\d+:\d+):", ended.err, re.MULTILINE))
    assert places == {
        "inventory/hosts.yml:8:24",
        "inventory/group_vars/all.yml:2:19",
        "inventory/presets/one.yml:3:1",
        "inventory/presets/two.yml:3:8",
        "inventory/presets/three.yml:2:14",
    }, ended.err
    assert "flags" in ended.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("deploy",), "--host"),
        (("deploy", "--host", "bxo"), "box"),
        (("deploy", "--host", "box", "--service", "mian"), "main"),
        (("deploy", "--host", "box", "--set", "nonsense"), "flag=value"),
        (("deploy", "--host", "box", "--without", "nolayer"), "nolayer"),
        (("rollback", "--host", "box", "--to", "0009-x-y"), "0009-x-y"),
        (("logs", "--host", "box"), "never launched"),
        (("diagnose",), "--log"),
        (("diagnose", "--log", "/no/such/file"), "/no/such/file"),
    ],
)
def test_a_wrong_command_line_is_told_in_words(rig: Rig, words: tuple[str, ...], told: str) -> None:
    """What does not exist is named, what would be right is said; exit 2, never a traceback."""
    rig.env.pop("RELIGHT_DEBUG")
    ended = rig.run(*words)
    assert ended.code == 2, ended.everything
    assert told in ended.everything
    assert "Traceback" not in ended.everything


@pytest.mark.parametrize(("archive", "told"), [("standin:9.9", "0.5.10"), ("nosuch", "ships no")])
def test_an_archive_that_does_not_exist_is_told_in_words(rig: Rig, archive: str, told: str) -> None:
    """An unknown package or version to ship is the operator's mistake, not a fault of relight."""
    rig.host_vars["relight_engine"] = {"python": "python3", "archive": archive}
    rig.write()
    ended = rig.deploy()
    assert ended.code == 2, ended.everything
    assert told in ended.everything
    assert "bug" not in ended.everything


ATTACKS = (
    "$(touch CANARY)",
    "`touch CANARY`",
    "; touch CANARY #",
    "' ; touch CANARY ; '",
    '" ; touch CANARY ; "',
    "a\ntouch CANARY\n",
    "--model-path=/etc",
    "-oProxyCommand=touch CANARY",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_values_are_words_of_the_engine_and_nothing_else(rig: Rig, attack: str) -> None:
    """Every string of preset and host set to an attack: the canary file appears nowhere."""
    attack = attack.replace("CANARY", str(rig.folder.parent / "canary"))
    rig.host_vars["relight_engine"] = {
        "python": "python3",
        "archive": "standin",
        "env": {"RELIGHT_STANDIN_SPEED": "0.3", "NOISE": attack},
    }
    rig.write(
        {
            "served_name": attack,
            "description": attack,
            "env": {"MORE_NOISE": attack},
            "flags": {**PRESET["flags"], "chat-template": attack},
        }
    )
    ended = rig.deploy("--no-benchmark")
    assert "Traceback" not in ended.everything
    assert not list(rig.folder.parent.rglob("canary*")), ended.everything
    if ended.code == 0:
        assert rig.answers() == attack


def test_hostile_answers_of_a_host_are_text(rig: Rig) -> None:
    """Facts that a host reports are shown and compared, never rendered or run."""
    canary = rig.folder.parent / "canary"
    attack = "{{ lookup('pipe','touch %s') }}$(touch %s)" % (canary, canary)  # noqa: UP031
    rig.deploy()
    store = rig.store()
    with (store / "ledger.jsonl").open("a") as ledger:
        ledger.write(
            json.dumps({"event": attack, "t": attack, "fence": 1, "release": attack}) + "\n"
        )
        ledger.write("{{ torn")
    (store / "lock" / "holder").write_text(attack)
    (store / "releases" / "9999-{{x}}").mkdir()
    for words in (("status",), ("releases", "--host", "box"), ("deploy", "--host", "box")):
        ended = rig.run(*words)
        assert "Traceback" not in ended.everything
    assert not list(rig.folder.parent.rglob("canary*"))
