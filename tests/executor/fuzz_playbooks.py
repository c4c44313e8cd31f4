"""Mutates playbooks and reads them: never a traceback, and the right line where it is known.

`python -m tests.executor.fuzz_playbooks 10000` runs that many; the tests run a few.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from relight.errors import InputFaults
from relight.executor import load
from relight.project.loader import load as load_project
from tests.executor.playbooks import INVENTORY

BASE = """\
# A playbook that is mutated.
- name: Base
  hosts: all
  gather_facts: false
  vars:
    port: 30000
    words: [a, b]
  tasks:
    - name: Say
      command: echo {{ port }}
      register: said
      changed_when: false
    - name: Copy
      copy:
        content: "{{ said.stdout }}"
        dest: /tmp/never
        mode: "0644"
      when: said.rc == 0
      notify: again
    - block:
        - name: Look
          stat:
            path: /tmp
            follow: true
          loop: "{{ words }}"
          loop_control:
            loop_var: word
      rescue:
        - debug:
            msg: "{{ words | join(',') }}"
      always:
        - wait_for:
            port: 30000
            timeout: 5
          retries: 3
          until: true
    - set_fact:
        known: "{{ words | length }}"
  handlers:
    - name: again
      debug:
        msg: again
"""
Mutation = Callable[[random.Random, list[str]], int | None]
"""Changes the lines in place; returns the line (from 1) that is wrong now, None when unknown."""


def _misspell_key(chance: random.Random, lines: list[str]) -> int | None:
    known = [i for i, line in enumerate(lines) if re.match(r"[ -]*\w+:", line)]
    free = _free(lines)
    index = chance.choice([i for i in known if i not in free])
    matched = re.match(r"([ -]*)(\w+)(:.*)", lines[index])
    assert matched is not None
    lines[index] = f"{matched[1]}{matched[2]}zq{matched[3]}"
    return index + 1


def _free(lines: list[str]) -> set[int]:
    """Return the lines where any key may stand: names of variables and facts."""
    free: set[int] = set()
    for index, line in enumerate(lines):
        if re.search(r"^ *(- )?(vars|set_fact):", line):
            depth = len(line) - len(line.lstrip(" -"))
            for after in range(index + 1, len(lines)):
                if len(lines[after]) - len(lines[after].lstrip(" ")) <= depth:
                    break
                free.add(after)
    return free


def _break_template(chance: random.Random, lines: list[str]) -> int | None:
    index = chance.choice([i for i, line in enumerate(lines) if "}}" in line])
    lines[index] = chance.choice([
        lines[index].replace("}}", "| nosuchfilter }}"),
        lines[index].replace("}}", "+ }}"),
        lines[index].replace("}}", "}"),
        lines[index].replace("{{", "{{ ("),
    ])  # fmt: skip
    return index + 1


def _wrong_type(chance: random.Random, lines: list[str]) -> int | None:
    places = {"retries: 3": "retries: [x]", "timeout: 5": "timeout: soon", "port: 30000": "port: x",
              "gather_facts: false": "gather_facts: perhaps", "follow: true": "follow: {a: 1}",
              "loop_var: word": "loop_var: 'a b'"}  # fmt: skip
    free = _free(lines)
    found = [
        (i, old) for i, line in enumerate(lines) for old in places if old in line and i not in free
    ]
    index, old = chance.choice(found)
    lines[index] = lines[index].replace(old, places[old])
    return index + 1


def _tab(chance: random.Random, lines: list[str]) -> int | None:
    index = chance.choice([i for i, line in enumerate(lines) if line.startswith("    ")])
    lines[index] = "\t" + lines[index].lstrip()
    return None


def _delete(chance: random.Random, lines: list[str]) -> int | None:
    del lines[chance.randrange(len(lines))]
    return None


def _characters(chance: random.Random, lines: list[str]) -> int | None:
    index = chance.randrange(len(lines))
    line = list(lines[index])
    for _ in range(chance.randint(1, 4)):
        character = chance.choice("{}[]:,#&*!|>'\"%@`-?\\\t\0é\u2028x0 ")
        line.insert(chance.randint(0, len(line)), character)
    lines[index] = "".join(line)
    return None


def _swap(chance: random.Random, lines: list[str]) -> int | None:
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return None


def _indent(chance: random.Random, lines: list[str]) -> int | None:
    index = chance.randrange(len(lines))
    lines[index] = chance.choice([" ", "  ", "   ", "        "]) + lines[index]
    return None


MUTATIONS: tuple[Mutation, ...] = (
    _misspell_key, _break_template, _wrong_type, _tab, _delete, _characters, _swap, _indent,
)  # fmt: skip


@dataclass
class Score:
    """How a run of mutations went."""

    tried: int = 0
    refused: int = 0
    placed: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)


def fuzz(count: int, seed: int) -> Score:
    """Read `count` mutated playbooks; anything but InputFaults escapes as it is."""
    chance, score = random.Random(seed), Score()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "inventory").mkdir()
        (root / "inventory" / "hosts.yml").write_text(INVENTORY)
        project = load_project(root)
        for _ in range(count):
            lines = BASE.splitlines()
            mutation = chance.choice(MUTATIONS)
            line = mutation(chance, lines)
            path = root / "play.yml"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
            score.tried += 1
            try:
                load(project, path, [])
                faults: list[int] = []
            except InputFaults as error:
                score.refused += 1
                faults = [fault.line for fault in error.faults]
            if line is not None:
                score.placed += 1
                if line in faults:
                    score.right += 1
                else:
                    score.wrong.append(f"{mutation.__name__} line {line}: {lines[line - 1]!r}")
    return score


if __name__ == "__main__":
    done = fuzz(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, 7)
    print(  # noqa: T201  a script that prints its figures
        f"{done.tried} mutations, {done.refused} refused, no traceback; "
        f"the right line in {done.right} of {done.placed} whose place is known"
    )
    print("\n".join(done.wrong[:20]))  # noqa: T201  same
