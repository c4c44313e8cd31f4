"""Secret values on their way to the host and there: private files, and never shown.

They belong to their release, as its launch.sh does: what comes back starts with the set and the
values of then. The same bytes with another value are a release of their own.
"""

from __future__ import annotations

import json
import re
import shlex

from relight.core.desired import Wanted
from relight.core.release import Release
from relight.core.takeover import ENV_FILE, secret_variable
from relight.deploy.target import Target
from relight.errors import HostError, UsageError
from relight.store.private import PrivateFiles, read_private

_FORMER_PLACE = re.compile(rb'RELIGHT_SERVICE_DIR[}"]*/"?(env|flags\.yaml)\b')


def secret_files(target: Target, wanted: Wanted) -> dict[str, bytes]:
    """Return the private files of a release, by name; raises InputFaults for a lost value.

    Variables go to `env`, flags to the engine's own file of flags, as JSON, which is YAML.
    """
    if not wanted.secrets and not wanted.secret_flags:
        return {}
    values = target.project.secrets(target.host, wanted.preset_name)
    files: dict[str, bytes] = {}
    if wanted.secrets:
        lines = [f"{name}={shlex.quote(values[name])}\n" for name in wanted.secrets]
        files[ENV_FILE] = "".join(lines).encode()
    if wanted.secret_flags:
        flags = {name: values[f"--{name}"] for name in wanted.secret_flags}
        files[target.engine.secret_file.name] = json.dumps(flags, ensure_ascii=False).encode()
    return files


def write_release(target: Target, wanted: Wanted, release: Release, launch_sh: bytes) -> bool:
    """Write a release and its secrets, whole or not at all; False when it stands there already.

    Raises HostError when it was written with other secrets meanwhile, UsageError for a launch.sh
    that looks for secrets where they no longer are.
    """
    files = secret_files(target, wanted)
    if files and _FORMER_PLACE.search(launch_sh):
        what = "the project's own templates/launch.sh.j2 reads secrets from $RELIGHT_SERVICE_DIR"
        right = 'write "${0%/*}" instead, as the shipped one does: they lie beside launch.sh'
        raise UsageError(f"{what}; {right}")
    if target.store.write_release(release, launch_sh, files):
        return True
    if new_values(target, wanted, release.id):
        what = f"another deploy wrote {release.id} at this moment, with other secrets"
        raise HostError(target.host, what, "deploy again")
    return False


def new_values(target: Target, wanted: Wanted, release: str) -> tuple[str, ...]:
    """Return the names of secrets whose values are not those that a stored release starts with."""
    files = secret_files(target, wanted)
    if not files:
        return ()
    texts = {name: data.decode() for name, data in files.items()}
    return _differing(_values(texts), _values(kept_files(target, release).own(release)))


def told_others(kept: PrivateFiles, now: Release | None, back: Release) -> str:
    """Return words for what a return to a release brings with it: secrets unlike those of `now`."""
    names = () if now is None else _differing(_of(kept, now), _of(kept, back))
    if now is None or not names:
        return ""
    return f"{back.id} starts with the secrets of then, not those of {now.id}: {', '.join(names)}"


def kept_files(target: Target, release: str = "") -> PrivateFiles:
    """Return what a host keeps apart for a release (for all without one), hidden from now on.

    An engine prints its arguments (SGLang 0.5.10: `api_key=`), and whoever reads a log may not have
    the reference's source at hand, or has a newer value; so each value that is kept is hidden.
    """
    kept = read_private(target.store, (ENV_FILE, target.engine.secret_file.name), release)
    for place, text in kept.texts.items():
        target.project.hide(_parsed(place, text).values())
    return kept


def api_key(target: Target, release: Release) -> str | None:
    """Return the key that a release's server asks for, from where its launch reads it."""
    flag, variable = "api-key", secret_variable("api-key")
    if flag in release.secret_flags or variable in release.secrets:
        values = _of(kept_files(target, release.id), release)
        return values.get(flag, values.get(variable))
    key = release.flags.get(flag)
    return key if isinstance(key, str) else None


def _differing(one: dict[str, str], other: dict[str, str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in one | other if one.get(name) != other.get(name)))


def _of(kept: PrivateFiles, release: Release) -> dict[str, str]:
    values = _values(kept.of(release.id))
    names = (*release.secrets, *release.secret_flags)
    return {name: value for name, value in values.items() if name in names}


def _values(files: dict[str, str]) -> dict[str, str]:
    return {name: value for file in files for name, value in _parsed(file, files[file]).items()}


def _parsed(place: str, text: str) -> dict[str, str]:
    """Return the values in a private file, by name: JSON, or a shell's assignments."""
    try:
        if place.endswith(ENV_FILE):
            pairs = (word.partition("=") for word in shlex.split(text))
            return {name: value for name, equals, value in pairs if equals}
        return {str(name): str(value) for name, value in dict(json.loads(text)).items()}
    except (ValueError, TypeError):
        return {}
