"""Notified handlers that a failed run left over: kept on the host, run by the next run."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import PurePath

from relight.core.events import Note
from relight.core.language.playbook import Play
from relight.errors import RelightError
from relight.executor.hosts import Host
from relight.executor.strategy import Strategy
from relight.executor.together import together

_FOLDER = '"$HOME"/.relight/handlers'


def key(path: str, play: Play, host: str) -> str:
    """Return the name of the file on the host: one for each play of each playbook.

    Several names of the inventory may be one machine: each has a file of its own.
    """
    words = f"{PurePath(path).name}\0{play.name}\0{host}"
    return hashlib.sha256(words.encode()).hexdigest()[:20]


def keep(strategy: Strategy, hosts: Sequence[Host], path: str) -> None:
    """Write down the notifications that are left over on hosts that failed."""
    if strategy.run.settings.check:
        return
    left = [host for host in hosts if host.notified and not host.unreachable]
    together(strategy.run, left, lambda host: _write(strategy, host, path), lambda _: None)
    for host in hosts:
        host.notified = []


def _write(strategy: Strategy, host: Host, path: str) -> None:
    name = key(path, strategy.batch.play, host.name)
    lines = "".join(f"{one}\n" for one in host.notified if "\n" not in one)
    script = f"umask 077 && mkdir -p {_FOLDER} && cat > {_FOLDER}/{name}"
    try:
        result = host.open().control(script, data=lines.encode())
        kept, why = result.exit == 0, result.err
    except (RelightError, TimeoutError) as error:
        kept, why = False, str(error)
    names = ", ".join(host.notified)
    text = f"handlers that did not run are kept for the next run: {names}"
    if not kept:
        text = f"handlers did not run, and could not be kept for the next run ({why}): {names}"
    strategy.run.settings.report(
        Note(level="info" if kept else "warning", host=host.name, text=text)
    )


def recall(strategy: Strategy, hosts: Sequence[Host], path: str) -> None:
    """Add the notifications that an earlier run left over, and take them off the host."""
    if not strategy.run.settings.check:
        together(strategy.run, hosts, lambda host: _read(strategy, host, path), lambda _: None)


def _read(strategy: Strategy, host: Host, path: str) -> None:
    file = f"{_FOLDER}/{shlex.quote(key(path, strategy.batch.play, host.name))}"
    try:
        result = host.open().control(f"cat {file} 2>/dev/null && rm -f {file} || :")
    except (RelightError, TimeoutError):
        return
    for line in result.out.splitlines():
        if line not in host.notified:
            host.notified.append(line)
            text = f"an earlier run left the handler {line!r} over: it runs now"
            strategy.run.settings.report(Note(host=host.name, text=text))
