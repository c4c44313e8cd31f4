"""Secret values on their way to the host and there: private files, and never shown."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from relight.core.desired import Wanted
from relight.core.release import Release
from relight.core.takeover import ENV_FILE
from relight.deploy.target import Target


def write_secrets(target: Target, wanted: Wanted) -> None:
    """Write the service's private files where its preset has secrets; raises InputFaults.

    Variables go to `env`, flags to the engine's own file of flags, as JSON, which is YAML. The
    values travel as data, never as words of a command line.
    """
    if not wanted.secrets and not wanted.secret_flags:
        return
    values = target.project.secrets(target.host, wanted.preset_name)
    if wanted.secrets:
        lines = [f"{name}={shlex.quote(values[name])}\n" for name in wanted.secrets]
        target.store.write_private(ENV_FILE, "".join(lines).encode())
    if wanted.secret_flags:
        flags = {name: values[f"--{name}"] for name in wanted.secret_flags}
        text = json.dumps(flags, ensure_ascii=False)
        target.store.write_private(target.engine.secret_file.name, text.encode())


def hide_kept(target: Target, release: Release | None) -> None:
    """Let no text of this run show what a host keeps apart for a release: its log may tell it.

    An engine prints its arguments (SGLang 0.5.10: `api_key=`), and whoever reads the log may not
    have the reference's source at hand; so the values come from the host's private files.
    """
    if release is None or not (release.secrets or release.secret_flags):
        return
    files = (ENV_FILE, target.engine.secret_file.name, f"releases/{release.id}/{ENV_FILE}")
    for name, text in target.store.read_private(*files).items():
        target.project.hide(kept_values(name, text))


def kept_values(name: str, text: str) -> Iterator[str]:
    """Return the values in the text of a private file: JSON, or a shell's assignments."""
    try:
        if name.endswith(ENV_FILE):
            yield from (word.partition("=")[2] for word in shlex.split(text))
        else:
            yield from (str(value) for value in dict(json.loads(text)).values())
    except (ValueError, TypeError):
        return
