"""`diagnose`: what a log came to, whoever started the server that wrote it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from relight import engines
from relight.cli.look import one_target
from relight.cli.run import Options, say_with
from relight.core.engine import LogReader
from relight.core.events import Diagnosed, Event
from relight.core.startup import Ending, Reading
from relight.deploy.secrets import kept_files
from relight.errors import EXIT_OK, HostError, UsageError

_CHUNK = 1 << 20
_STATES = {"running": "running", "exited": "exited", "lost": "exited", "rebooted": "exited"}


def diagnose_file(options: Options, name: str, engine: str) -> int:
    """Read a log file (`-`: stdin) in constant memory and print what it came to."""

    def act(say: Callable[[Event], None]) -> int:
        if engine not in engines.names():
            raise UsageError(f"no engine {engine!r}; there are: {', '.join(engines.names())}")
        reader = engines.load(engine).reader()
        for piece in _pieces(name):
            reader.feed(piece)
        say(told("stdin" if name == "-" else name, reader, Ending()))
        return EXIT_OK

    return say_with(options, act)


def diagnose_host(options: Options, host: str, service: str, launch: int) -> int:
    """Read the log of a launch on a host (the last one by default)."""

    def act(say: Callable[[Event], None]) -> int:
        with one_target(options, host, service, say) as target:
            observed = target.store.peek()
            number = launch or observed.launch
            if not number:
                raise HostError(target.host, f"service {target.name} was never launched")
            kept_files(target)
            reader = target.engine.reader()
            for piece in target.store.whole_log(number):
                reader.feed(piece)
            last = number == observed.launch
            state = _STATES.get(observed.state, "unknown") if last else "exited"
            ending = Ending.model_validate(
                {"state": state, "exit": observed.exit if last else None}
            )
            say(told(f"{target.host}/{target.name} launch {number}", reader, ending))
        return EXIT_OK

    return say_with(options, act)


def told(source: str, reader: LogReader, ending: Ending) -> Diagnosed:
    """Return the event for what a reader has read."""
    reader.close()
    reading: Reading = reader.reading(ending)
    found = reading.diagnosis
    return Diagnosed(
        source=source,
        ready=reading.ready,
        stage=reading.stage.value,
        failure=found.failure.value if found else None,
        flag=found.flag if found else None,
        evidence=found.evidence if found else None,
        remedy=found.remedy if found else None,
        summary=found.summary if found else "",
        terminal=reading.terminal,
        timeline=reading.timeline,
        facts=reading.facts,
    )


def _pieces(name: str) -> Iterator[bytes]:
    if name == "-":
        while piece := sys.stdin.buffer.read(_CHUNK):
            yield piece
        return
    try:
        with Path(name).open("rb") as file:
            while piece := file.read(_CHUNK):
                yield piece
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {name}: {why}") from None
