"""A host's memory of what its engine builds rejected: `HOME/memory/BUILD.jsonl`, append-only."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime

from relight.core.attempt import Attempt, Refused
from relight.core.desired import Wanted
from relight.core.memory import (
    Rejection,
    build_of,
    concerns,
    learn,
    read_memory,
    recall,
    refused_by_build,
)
from relight.deploy.target import Target
from relight.errors import HostError, RelightError
from relight.store.service import on_host

_LINES = 400
_BYTES = 512 * 1024


@dataclass(frozen=True)
class Kept:
    """One rejection as a host keeps it; `build` is the engine build that it belongs to."""

    build: str
    rejection: Rejection


def memory_step(target: Target, wanted: Wanted) -> str:
    """Return the step that prints what this host remembers of the build that is installed."""
    place = f"{_folder(target)}/{shlex.quote(_build(wanted))}.jsonl"
    return f"tail -n {_LINES} {place} 2>/dev/null | tail -c {_BYTES} || :"


def memory_said(target: Target, wanted: Wanted, text: str) -> tuple[Refused, ...]:
    """Return what a memory, as its step printed it, says against a preset."""
    return recall(read_memory(text), wanted.preset, target.engine.canonical)


def forget(target: Target, wanted: Wanted) -> int:
    """Forget what the installed build rejected with this model; return how much it was."""
    place = f"{_folder(target)}/{shlex.quote(_build(wanted))}.jsonl"
    kept = read_memory(_good(target, f"cat {place} 2>/dev/null || :", "read its memory"))
    rest = [one for one in kept if one.model != wanted.preset.model]
    if len(rest) == len(kept):
        return 0
    text = "".join(one.model_dump_json() + "\n" for one in rest).encode()
    step = f"umask 077; cat > {place}.new && mv -f {place}.new {place}"
    _good(target, step, "write its memory", text)
    return len(kept) - len(rest)


def remember(
    target: Target, wanted: Wanted, attempts: list[Attempt], refused: dict[str, str], release: str
) -> None:
    """Keep what a deploy proved; a memory that cannot be written is told, and changes nothing."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    preset, canonical = wanted.preset, target.engine.canonical
    learnt = (
        *learn(preset, attempts, at=at, release=release, canonical=canonical),
        *refused_by_build(preset, refused, at=at, release=release),
    )
    if not learnt:
        return
    place = f"{_folder(target)}/{shlex.quote(_build(wanted))}.jsonl"
    try:
        before = read_memory(
            _good(target, f"tail -n {_LINES} {place} 2>/dev/null || :", "read its memory")
        )
        fresh = [one for one in learnt if not any(one.same_as(other) for other in before)]
        text = "".join(one.model_dump_json() + "\n" for one in fresh).encode()
        step = f"umask 077; mkdir -p {_folder(target)} && cat >> {place}"
        if fresh:
            _good(target, step, "write its memory", text)
    except RelightError as error:
        target.say(f"what was learnt is not remembered: {error}", "warning")


def flag_history(target: Target, flag: str) -> tuple[Kept, ...]:
    """Return everything that a host remembers of a flag, over all builds and models, oldest first.

    `inv explain --host X --flag F` shows it.
    """
    folder = _folder(target)
    step = (
        f'cd {folder} 2>/dev/null || exit 0; for one in *.jsonl; do [ -f "$one" ] || continue; '
        f"printf '\\036%s\\n' \"$one\"; tail -n {_LINES} -- \"$one\"; printf '\\n'; done"
    )
    found: list[Kept] = []
    for part in _good(target, step, "read its memory").split("\x1e")[1:]:
        name, _, text = part.partition("\n")
        build = "".join(char for char in name.removesuffix(".jsonl") if char.isprintable())
        found += [
            Kept(build, one)
            for one in read_memory(text)
            if concerns(one, flag, target.engine.canonical)
        ]
    return tuple(sorted(found, key=lambda kept: kept.rejection.at))


def _folder(target: Target) -> str:
    return f"{on_host(target.store.home)}/memory"


def _build(wanted: Wanted) -> str:
    return build_of(wanted.preset.engine, wanted.engine_version, wanted.spec)


def _good(target: Target, step: str, what: str, data: bytes = b"") -> str:
    result = target.connection.control(step, data=data)
    if result.exit != 0:
        raise HostError(target.host, f"cannot {what}: {result.err.strip()[-300:]}")
    return result.out
