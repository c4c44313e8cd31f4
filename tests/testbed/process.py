"""Processes told apart by id and start time, so that a reused id is never taken for an old one."""

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Process:
    """One process of this boot: its id and its start in clock ticks since boot (proc(5), stat)."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """Return the living process with this id; None when there is none or it is a zombie."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:
            return None
        fields = text.rpartition(")")[2].split()
        return None if fields[0] in {"Z", "X"} else cls(pid, int(fields[19]))

    def alive(self) -> bool:
        """Return whether this very process still runs."""
        return Process.of(self.pid) == self

    def kill_group(self) -> None:
        """Send SIGKILL to the process group that it leads, when it still runs."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
