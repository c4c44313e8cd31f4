"""Hostile text in any field of a project is data or a fault: nothing runs, nothing crashes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from relight.errors import InputFaults, RelightError, UsageError
from relight.project.loaded import LoadedProject
from relight.project.loader import load

Lay = Callable[[Mapping[str, str]], Path]

ATTACKS = [
    "$(touch CANARY)",
    "`touch CANARY`",
    "; touch CANARY",
    "x' ; touch CANARY ; '",
    'x" ; touch CANARY ; "',
    "a\ntouch CANARY\n",
    "| touch CANARY",
    "-oProxyCommand=touch CANARY",
    "--config=CANARY",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ lipsum.__globals__['os'].popen('touch CANARY').read() }}",
    "{{ cycler.__init__.__globals__.os.system('touch CANARY') }}",
    "{{ lookup('pipe', 'touch CANARY') }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "{{ range(10**9) | list }}",
    "{{ self }}{{ namespace }}",
    "../../../../etc/passwd",
    "/etc/passwd",
    "%(touch CANARY)s ${IFS}touch${IFS}CANARY",
    "\x1b]0;CANARY\x07",
    "\u202egpj.exe",
    "!!python/object/apply:os.system ['touch CANARY']",
    "A" * 900,
]

FIELDS: dict[str, str] = {
    "inventory/hosts.yml": """
        all:
          hosts:
            @host@:
            box:
              ansible_host: @address@
              ansible_port: @port@
              ansible_user: @user@
              ansible_become_user: @become@
              ansible_ssh_private_key_file: @key@
              ansible_connection: @connection@
              ansible_timeout: @timeout@
              free: @free@
              @name@: 1
          children:
            @group@: {hosts: {box: }}
        """,
    "inventory/group_vars/all.yml": """
        models: @models@
        relight_engine:
          python: @python@
          model_root: @root@
          archive: @archive@
          env: {A: @env@, @envname@: b}
        relight_launcher: @launcher@
        relight_home: @home@
        relight_gpus: [{name: @gpu@, memory_gb: @memory@, link: @link@}]
        relight_services:
          main: {preset: p, port: 0}
          @service@: {preset: @preset@, port: @serviceport@}
        """,
    "inventory/presets/p.yml": """
        description: @description@
        engine: @engine@
        engine_version: @version@
        model: @model@
        served_name: @served@
        flags: {a: @flag@, @flagname@: b, c: [@item@]}
        layers: {@layer@: {flags: {a: @layerflag@}, why: @why@}}
        fallbacks: [{on: @class@, drop: [@drop@], set: {a: @set@}}]
        readiness: {within: @within@}
        env: {A: @presetenv@, @presetenvname@: b, T: {env: @secret@}}
        benchmark: {tool: @tool@, command: @command@}
        """,
}
HARMLESS = {
    "host": "h1", "address": "192.0.2.1", "port": "22", "user": "root", "become": "root",
    "key": "~/.ssh/id", "connection": "ssh", "timeout": "5", "name": "other", "group": "g",
    "python": "python3", "archive": "standin", "envname": "B", "launcher": "process",
    "home": "/srv/relight", "memory": "48", "service": "second", "preset": "p",
    "serviceport": "1", "engine": "sglang", "version": ">=0.5", "flagname": "b", "layer": "x",
    "class": "unknown", "drop": "a", "within": "5", "presetenvname": "C", "tool": "probe",
}  # fmt: skip
FREE = "x"
"""What stands in a field that takes any text."""


def quoted(text: str) -> str:
    """Return a text as YAML in double quotes."""
    plain = set(" -_.,:;/()[]{}$%|'!*+=~`")
    return '"' + "".join(c if c.isalnum() or c in plain else f"\\U{ord(c):08x}" for c in text) + '"'


def filled(attacks: Mapping[str, str]) -> dict[str, str]:
    """Return the project with attacks in some fields and harmless values in the others."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        return quoted(attacks.get(name, HARMLESS.get(name, FREE)))

    return {path: re.sub("@([a-z]+)@", value, text) for path, text in FIELDS.items()}


NAMES = sorted({name for text in FIELDS.values() for name in re.findall("@([a-z]+)@", text)})


def look_at_everything(project: LoadedProject) -> None:
    """Ask a project all that relight asks it."""
    for host in project.hosts("all"):
        project.variables(host)
        project.address(host)
        project.inventory_report(host)
        for service in project.spec(host).services.values():
            project.preset(host, service.preset)


def outcome(root: Path) -> str:
    """Return what came of a project: `sound`, or the text of its faults."""
    try:
        look_at_everything(load(root))
    except RelightError as error:
        return str(error)
    return "sound"


def test_the_harmless_project_is_sound(lay: Lay) -> None:
    """So that what the attacks meet is the real thing."""
    assert outcome(lay(filled({}))) == "sound"


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_in_a_field_is_data_or_a_fault(name: str, lay: Lay) -> None:
    """Two attacks for each field: no file appears, and nothing moves the cursor."""
    chance = random.Random(name)
    for attack in chance.sample(ATTACKS, 2):
        root = lay(filled({name: attack}))
        said = outcome(root)
        assert not list(root.rglob("CANARY"))
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert len(said) < 5000


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_in_all_fields_at_once_is_refused_in_words(attack: str, lay: Lay) -> None:
    """Fields with a form of their own refuse it; all at once, each at its place."""
    root = lay(filled(dict.fromkeys(NAMES, attack)))
    with pytest.raises(InputFaults) as caught:
        load(root)
    assert len(caught.value.faults) > 5
    assert not list(root.rglob("CANARY"))


def test_a_project_with_slips_of_the_keyboard_never_crashes(lay: Lay) -> None:
    """Files with characters lost, doubled or changed."""
    files, chance = filled({}), random.Random(7)
    for _ in range(60):
        path = chance.choice(sorted(files))
        text = files[path]
        at = chance.randrange(len(text))
        slip = chance.choice(
            ["", " ", "\t", ":", "[", "}", "'", '"', "*a", "&a ", "{{ ", "- ", "\n"]
        )
        broken = text[:at] + slip + text[at + chance.randint(0, 3) :]
        assert outcome(lay({**files, path: broken}))


def test_attacks_on_the_command_line_are_refused_in_words(lay: Lay) -> None:
    """Patterns, extra variables and sources."""
    root = lay(filled({}))
    project = load(root)
    for attack in (*ATTACKS, "A" * 100_000, "a\0b"):
        with pytest.raises(UsageError):
            project.hosts(attack)
        with pytest.raises(RelightError):
            project.template(attack)
        with pytest.raises(InputFaults):
            load(root, inventory_sources=[attack, "nowhere"])
    assert not list(root.rglob("CANARY"))
