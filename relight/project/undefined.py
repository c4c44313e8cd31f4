"""Names in templates of variables that nothing defines: a typo shows before it is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from relight.errors import Fault
from relight.project import content
from relight.project.rendering import Rendered

_NAMED = re.compile(
    r"""(?:register|loop_var|index_var)["']?\s*:\s*["']?(\w+)|([A-Za-z_]\w*)["']?\s*[:=]"""
)
_AT_RUN_TIME = re.compile(
    r"ansible_\w+|item|omit|hostvars|play_hosts|playbook_dir|inventory_dir|inventory_file|facts"
    r"|environment|vars|role_\w+|relight_\w+"
)


def nowhere_defined(hosts: Mapping[str, Rendered], root: Path) -> Iterator[Fault]:
    """Return a fault for each name that a variable uses and that no host and no playbook has.

    Variables are rendered when they are needed, as in Ansible: one that lacks a name on some
    hosts is no fault. `register`, `set_fact` and `vars` of playbooks define names too, so every
    key of the playbooks and every name that they register counts as defined.
    """
    defined = {name for rendered in hosts.values() for name in rendered.variables}
    words: set[str] | None = None
    seen: set[tuple[str, tuple[str | int, ...]]] = set()
    for rendered in hosts.values():
        for name, variable in rendered.variables.items():
            key = (variable.document.path, variable.trail)
            if key in seen:
                continue
            seen.add(key)
            for missing, fault in rendered.undefined(name):
                if missing in defined or _AT_RUN_TIME.fullmatch(missing):
                    continue
                words = _words(root) if words is None else words
                if missing not in words:
                    yield fault


def _words(root: Path) -> set[str]:
    found: set[str] = set()
    for folder in content.folders(root, "playbooks"):
        for path in sorted(folder.rglob("*.y*ml")):
            try:
                named = _NAMED.findall(path.read_text("utf-8", "replace"))
                found.update(name for pair in named for name in pair if name)
            except OSError:
                continue
    return found
