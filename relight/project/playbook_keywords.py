"""One keyword of a task: whether it exists, whether it may stand there, what it is given."""

from __future__ import annotations

from typing import Any

from relight.core.language.keywords import KEYWORDS, REFUSED, Place, at
from relight.project.marks import Trail
from relight.project.playbook_values import Found, check
from relight.project.wording import did_you_mean

BUILT_IN = ("ansible.builtin.", "ansible.legacy.", "relight.")
LANGUAGE = ("include_tasks", "import_tasks", "meta")


def short_name(name: str) -> str:
    """Return a module's name without its collection."""
    for prefix in BUILT_IN:
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name


def keyword(
    found: Found, modules: tuple[str, ...], key: str, value: Any, trail: Trail, place: Place
) -> None:
    """Note what is wrong with a keyword; `modules` are the names that a task may have besides."""
    known = KEYWORDS.get(key)
    if known is not None and place in known.places:
        check(found, known.kind, value, trail)
        return
    if key in REFUSED:
        found.add(trail, f"{key!r} is Ansible's, not relight's", REFUSED[key], key=True)
        return
    if known is not None:
        where = " or ".join(known.places)
        found.add(trail, f"{key!r} does not stand in a {place}", f"in a {where}", key=True)
        return
    task = place in ("task", "handler")
    names = (*at(place), *((*modules, *LANGUAGE) if task else ()))
    words = "keyword or module" if task else "keyword"
    advice = did_you_mean(short_name(key), names, "known")
    found.add(trail, f"unknown {words} {key!r}", advice, key=True)
