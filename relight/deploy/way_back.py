"""Is there a way back? Looked at before the old server stops, and told when there is none."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from relight.core.observed import Observed, read_release
from relight.deploy.target import Target
from relight.errors import RelightError


@dataclass(frozen=True)
class WayBack:
    """The known-good, and the files that its launch needs: the path of each by what it is.

    `unknown` says why that is not known, and is empty else.
    """

    release: str = ""
    needs: Mapping[str, str] = field(default_factory=dict)
    unknown: str = ""

    def step(self) -> str:
        """Return the step that prints what is not on the host, a line each."""
        looks = (
            f"[ -e {shlex.quote(path)} ] || printf '%s\\n' {shlex.quote(what)}"
            for what, path in self.needs.items()
        )
        return "\n".join((":", *looks))

    def broken(self, lacking: str) -> str:
        """Return why the known-good could not be started again, or nothing."""
        for what in lacking.splitlines():
            if what in self.needs:
                gone = f"{what} {self.needs[what]} is gone"
                return f"the known-good {self.release} could not start again: {gone}"
        return self.unknown


def way_back(target: Target, observed: Observed) -> WayBack:
    """Return what the way back needs: the engine's program, and the model where it is a folder.

    A model that a hub names is not looked for. Asks the host only when the known-good is not the
    release that is current.
    """
    back = observed.known_good
    if not back:
        return WayBack()
    release = observed.release if observed.current == back else None
    try:
        if release is None:
            release = read_release(target.store.read_release_file(back, "release.json"))
    except RelightError as error:
        return WayBack(unknown=f"the known-good {back} cannot be looked at: {error}")
    if release is None:
        return WayBack(unknown=f"release.json of the known-good {back} cannot be read")
    needs = {"its model": release.model, "its engine's program": release.argv[0]}
    return WayBack(back, {what: path for what, path in needs.items() if path.startswith("/")})


def no_way_back(target: Target, observed: Observed) -> str:
    """Return why the known-good could not be started again, or nothing, in a step of its own."""
    back = way_back(target, observed)
    return back.broken(target.connection.control(back.step()).out)


def say_broken(target: Target, why: str) -> None:
    """Tell the operator that there is no way back, where there is none."""
    if why:
        target.say(f"{why}; a launch that fails will leave this service dark", "warning")
