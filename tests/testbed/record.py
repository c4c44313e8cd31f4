"""What is written down about a testbed, so that a later process can use it or bring it down."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from tests.made_once import cache
from tests.testbed.node import Bind
from tests.testbed.process import Process


def home() -> Path:
    """Return the folder that has a folder for each testbed; only root looks into it."""
    folder = cache() / "testbed"
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


@dataclass(frozen=True)
class Record:
    """A testbed: its slot, its hosts by number, what they see of this machine.

    One with an owner ends with that process: whoever comes next brings it down.
    """

    name: str
    slot: int
    nodes: tuple[int, ...] = ()
    binds: tuple[Bind, ...] = ()
    owner: Process | None = None

    @property
    def folder(self) -> Path:
        """Return the folder of everything that the testbed has on disk."""
        return home() / self.name

    @property
    def orphaned(self) -> bool:
        """Return whether it had an owner that is gone."""
        return self.owner is not None and not self.owner.alive()

    def write(self) -> None:
        """Write it with one rename, so that a reader finds the old one or the new one."""
        self.folder.mkdir(exist_ok=True)
        new = self.folder / "record.json.new"
        with new.open("w", encoding="utf-8") as sink:
            json.dump(asdict(self), sink)
            sink.flush()
            os.fsync(sink.fileno())
        new.rename(self.folder / "record.json")

    @classmethod
    def read(cls, name: str) -> Self | None:
        """Return the record of a testbed; None when there is no such testbed."""
        try:
            text = (home() / name / "record.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        found = json.loads(text)
        return cls(
            name=found["name"],
            slot=found["slot"],
            nodes=tuple(found["nodes"]),
            binds=tuple(Bind(**bind) for bind in found["binds"]),
            owner=Process(**found["owner"]) if found["owner"] else None,
        )

    def forget(self) -> None:
        """Remove the testbed's folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def records() -> Iterator[Record]:
    """Yield the records of all testbeds of this user, by name."""
    for folder in sorted(home().iterdir()):
        if folder.is_dir() and (record := Record.read(folder.name)) is not None:
            yield record
