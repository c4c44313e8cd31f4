"""What commands share: the folder they work on, and leaving with an exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from invoke.exceptions import Exit
from invoke.tasks import Task

if TYPE_CHECKING:
    from relight.cli.run import Options


class Command(Task[Any]):
    """A task whose options never get `-` for a letter (Invoke 2.2 takes it from `--list-tasks`)."""

    def arg_opts(self, name: str, default: str, taken_names: set[str]) -> dict[str, Any]:
        """Return the option's settings, `-` counting as taken."""
        settings: dict[str, Any] = super().arg_opts(name, default, {*taken_names, "-"})
        return settings


def options(
    inventory: Iterable[str] = (), extra: Iterable[str] = (), *, as_json: bool = False
) -> Options:
    """Return what every command takes; the project is the folder that one stands in."""
    from relight.cli.run import Options  # noqa: PLC0415 - start-up time

    return Options(Path.cwd(), tuple(inventory), tuple(extra), as_json)


def leave(act: Callable[[], int]) -> None:
    """Run an act and leave with its exit code; Invoke itself uses 1 for parse errors only."""
    from relight.cli.run import guarded  # noqa: PLC0415 - start-up time

    code = guarded(act)
    if code:
        raise Exit(code=code)
