"""`import-command`: a launch command that somebody pasted becomes a preset."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from relight import engines
from relight.cli.run import Options, say_with
from relight.core.build import PastedCommand
from relight.core.events import Event, Note, Text
from relight.errors import EXIT_OK, UsageError
from relight.project.preset_text import preset_text


def import_command(options: Options, name: str, file: str, engine: str) -> int:
    """Read a command from a file (`-`: stdin) and print a preset, or write it with a name."""

    def act(say: Callable[[Event], None]) -> int:
        try:
            pasted = engines.load(engine).import_command(_text(file))
        except KeyError:
            raise UsageError(
                f"no engine {engine!r}; there are: {', '.join(engines.names())}"
            ) from None
        except ValueError as error:
            raise UsageError(f"{file}: {error}") from None
        text = preset_text(fields(pasted), head(pasted))
        if not name:
            say(Text(text=text.rstrip("\n")))
            return EXIT_OK
        if not name.replace("-", "").replace(".", "").replace("_", "").isalnum():
            raise UsageError(f"{name!r} cannot be a preset's name: letters, digits, . _ -")
        place = options.root / "inventory" / "presets" / f"{name}.yml"
        if place.exists():
            raise UsageError(f"{place} is there already; choose another --name")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        say(Note(text=f"wrote {place}"))
        return EXIT_OK

    return say_with(options, act)


def fields(pasted: PastedCommand) -> dict[str, Any]:
    """Return the preset's fields in the order in which people write them."""
    preset: dict[str, Any] = {
        "engine": pasted.engine,
        "model": pasted.model or "SAY-WHICH",
        "served_name": pasted.served_name or pasted.model or "SAY-WHICH",
        "flags": dict(pasted.flags),
    }
    env: dict[str, Any] = dict(pasted.env)
    env |= {
        secret: {"env": secret} for secret in pasted.secrets if secret.replace("_", "").isupper()
    }
    if env:
        preset["env"] = env
    return preset


def head(pasted: PastedCommand) -> tuple[str, ...]:
    """Return what belongs to a host's service, and what was left out, as comment lines."""
    gpus = f", gpus: {list(pasted.gpus)}" if pasted.gpus else ""
    service = f"{{preset: NAME, port: {pasted.port or 30000}{gpus}}}"
    lines = [
        "Imported from a command line.",
        f"For the host: relight_services: {{main: {service}}}",
    ]
    if pasted.python:
        lines.append(f"For the host: relight_engine: {{python: {pasted.python}}}")
    if pasted.secrets:
        lines.append(f"Secrets were left out: {', '.join(pasted.secrets)}; refer to them in env")
    return (*lines, *pasted.notes)


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {file}: {why}") from None
