"""Releases: one immutable way to run one server, with the lockfile that says what it is made of."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Literal

from relight.core.attempt import Recipe
from relight.core.flags import Flags
from relight.core.model import Frozen

RELEASE_ID = re.compile(r"\d{4,}-[a-z0-9][a-z0-9._-]*-[0-9a-f]{10}")


class Given(Frozen):
    """Something that the preset asks for and this release goes without, and why."""

    what: str
    reason: str
    evidence: str = ""


class Release(Frozen):
    """The lockfile `release.json`: everything that decided the bytes of launch.sh.

    `asked` is the hash of what was asked for before anything was given up, so that a degraded
    release that is asked for again is recognized. `data_dir` style paths are as on the host.
    """

    schema_: Literal[1] = 1
    id: str
    asked: str
    service: str
    preset: str
    engine: str
    engine_version: str
    model: str
    served_name: str
    port: int
    gpus: tuple[int, ...] = ()
    launcher: str
    recipe: Recipe
    flags: Flags
    argv: tuple[str, ...]
    env: dict[str, str] = {}
    secrets: tuple[str, ...] = ()
    secret_flags: tuple[str, ...] = ()
    """Flags whose values the engine reads from a private file, so that no command line has them."""
    gave_up: tuple[Given, ...] = ()
    within: float
    driver: str = ""
    weights: str = ""
    by: str = ""
    at: str = ""
    commit: str = ""
    relight: str = ""

    @property
    def degraded(self) -> bool:
        """Return whether the release goes without something that was asked for."""
        return bool(self.gave_up)

    def stored(self) -> bytes:
        """Return the bytes of release.json."""
        return self.model_dump_json(indent=2).encode() + b"\n"


def digest(*parts: Any) -> str:
    """Return a hash of values, independent of the order of keys."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def release_id(known: tuple[str, ...], preset: str, launch_sh: bytes, asked: str) -> str:
    """Return `0007-PRESET-HASH`: the order of making, what it is, and its bytes.

    A release of the same bytes that is `known` keeps its name.
    """
    content = hashlib.sha256(launch_sh + asked.encode()).hexdigest()[:10]
    ending = f"-{preset}-{content}"
    same = [name for name in known if name.endswith(ending) and sequence_of(name) is not None]
    if same:
        return max(same)
    return f"{max((sequence_of(name) or 0 for name in known), default=0) + 1:04d}{ending}"


def another_id(known: tuple[str, ...], release: str) -> str:
    """Return a new name for bytes that stand under one already: its secrets are others now."""
    newest = max((sequence_of(name) or 0 for name in known), default=0)
    return f"{newest + 1:04d}-{release.partition('-')[2]}"


def sequence_of(release: str) -> int | None:
    """Return the number that a release's name begins with."""
    head = release.split("-", 1)[0]
    return int(head) if head.isascii() and head.isdigit() else None
