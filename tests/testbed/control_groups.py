"""A control group for each test host: what is in it is ours, and it is killed as one.

Without a group of its own a booted host would share systemd's tree with its neighbours, and each
would find the others' processes in its units.
"""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

from tests.deadline import until
from tests.testbed.tools import CannotRunError


def hierarchies() -> tuple[Path, ...]:
    """Return where the hierarchies that a container's systemd writes to are mounted, v2 first.

    Those are the unified one (cgroup2) and, on machines with both, systemd's own (name=systemd).
    Raises CannotRunError when there is no cgroup2.
    """
    unified, named = [], []
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2":
            unified.append(Path(place))
        elif kind == "cgroup" and "name=systemd" in options.split(","):
            named.append(Path(place))
    if not unified:
        raise CannotRunError(
            "no cgroup2 file system is mounted; mount it on /sys/fs/cgroup/unified"
        )
    return (unified[0], *named[:1])


@dataclass(frozen=True)
class ControlGroup:
    """One host's group, by name, in every hierarchy that matters."""

    name: str

    def folders(self) -> tuple[Path, ...]:
        """Return its folders, the one of cgroup2 first."""
        return tuple(place / self.name for place in hierarchies())

    def make(self) -> None:
        """Make it where it is not there yet."""
        for folder in self.folders():
            folder.mkdir(exist_ok=True)

    def populated(self) -> bool:
        """Return whether any process, zombies left out, is in it or below it."""
        events = self.folders()[0] / "cgroup.events"
        with contextlib.suppress(FileNotFoundError):
            return re.search(r"^populated 1$", events.read_text(), re.MULTILINE) is not None
        return False

    def first_process(self) -> int | None:
        """Return the id of the host's own systemd, seen from outside; None when it is not up."""
        members = self.folders()[0] / "payload" / "init.scope" / "cgroup.procs"
        with contextlib.suppress(OSError):
            found = members.read_text(encoding="utf-8").split()
            return int(found[0]) if found else None
        return None

    def kill(self) -> None:
        """Kill everything in it at one moment, as a power cut does, and wait until it is empty."""
        with contextlib.suppress(FileNotFoundError):
            (self.folders()[0] / "cgroup.kill").write_text("1", encoding="utf-8")
        until(lambda: not self.populated(), 30, f"the end of all processes of {self.name}")

    def remove(self) -> None:
        """Remove it; it must be empty."""
        for folder in self.folders():
            below = sorted(folder.rglob("*"), key=lambda path: len(path.parts), reverse=True)
            for path in (*below, folder):
                if path.is_dir():
                    path.rmdir()
