"""Is there a way back? Looked at before the old server stops, and told when there is none."""

from __future__ import annotations

import shlex

from relight.core.observed import Observed, read_release
from relight.deploy.target import Target
from relight.errors import RelightError

_PRESENT = "present"


def broken_way_back(target: Target, observed: Observed) -> str:
    """Return why the known-good could not be started again, or nothing.

    Looks for the files that its launch needs: the engine's program, and the model where it is a
    folder. A model that a hub names is not looked for.
    """
    back = observed.known_good
    if not back:
        return ""
    release = observed.release if observed.current == back else None
    try:
        if release is None:
            release = read_release(target.store.read_release_file(back, "release.json"))
        if release is None:
            return f"release.json of the known-good {back} cannot be read"
        needs = {"its model": release.model, "its engine's program": release.argv[0]}
        for what, path in needs.items():
            if path.startswith("/") and not _there(target, path):
                return f"the known-good {back} could not start again: {what} {path} is gone"
    except RelightError as error:
        return f"the known-good {back} cannot be looked at: {error}"
    return ""


def _there(target: Target, path: str) -> bool:
    step = f"[ ! -e {shlex.quote(path)} ] || echo {_PRESENT}"
    return target.connection.control(step).out.strip() == _PRESENT
