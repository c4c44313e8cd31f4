"""`pause`: wait before the next task."""

from __future__ import annotations

import time
from datetime import datetime

from pydantic import Field

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.modules import Scope


class Args(Arguments):
    """The arguments of Ansible's `pause`; nobody is asked anything, so `prompt` is only shown."""

    seconds: float | None = Field(default=None, ge=0)
    minutes: float | None = Field(default=None, ge=0)
    prompt: str | None = None
    echo: bool = True


def run(args: Args, scope: Scope) -> Outcome:
    """Wait; an interrupt ends it."""
    asked = args.seconds if args.seconds is not None else args.minutes
    wanted = (asked or 0) * (1 if args.seconds is not None else 60)
    if asked is not None:
        wanted = max(1.0, wanted)  # as in Ansible, which takes whole seconds
    begun, start = time.monotonic(), datetime.now().astimezone()
    while not scope.stopped():
        left = begun + wanted - time.monotonic()
        if left <= 0:
            break
        time.sleep(min(left, 0.2))
    took, stop = time.monotonic() - begun, datetime.now().astimezone()
    unit = "minutes" if args.seconds is None and args.minutes is not None else "seconds"
    shown = round(took / 60 if unit == "minutes" else took, 2)
    return Outcome(
        values={
            "rc": 0,
            "stdout": f"Paused for {shown} {unit}",
            "stderr": "",
            "start": f"{start:%Y-%m-%d %H:%M:%S.%f}",
            "stop": f"{stop:%Y-%m-%d %H:%M:%S.%f}",
            "delta": int(took),
            "echo": args.echo,
            "user_input": "",
        }
    )
