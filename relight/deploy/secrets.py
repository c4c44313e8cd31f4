"""Secret values on their way to the host: read by reference, written to one file, 0600."""

from __future__ import annotations

import shlex

from relight.core.desired import Wanted
from relight.deploy.target import Target


def write_secrets(target: Target, wanted: Wanted) -> None:
    """Write the service's env file where its preset has secrets; raises InputFaults for a lost one.

    The values travel as data, never as words of a command line.
    """
    if not wanted.secrets:
        return
    values = target.project.secrets(target.host, wanted.preset_name)
    lines = [f"{name}={shlex.quote(values[name])}\n" for name in wanted.secrets]
    target.store.write_env("".join(lines).encode())
