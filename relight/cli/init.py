"""`relight init`: lay a folder that works, and say what to run in it."""

from __future__ import annotations

from pathlib import Path

from relight.errors import EXIT_OK


def init(directory: str) -> int:
    """Write the folder; raises UsageError where something stands in the way."""
    from relight.project.scaffold import init as lay  # noqa: PLC0415 - start-up time

    place = Path(directory).expanduser()
    for path in lay(place):
        print(f"wrote {path}")  # noqa: T201 - the command's output
    print(f"now: cd {place} && relight deploy --host sandbox")  # noqa: T201
    return EXIT_OK
