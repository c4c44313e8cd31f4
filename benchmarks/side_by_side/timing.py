"""Cases measured in turn, and what their times come to."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass
class Case:
    """One thing that one tool does, and the seconds that it took each time."""

    tool: str
    what: str
    act: Callable[[], object]
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.seconds)

    @property
    def least(self) -> float:
        """The shortest time, in seconds."""
        return min(self.seconds)

    @property
    def shown(self) -> str:
        """Median and shortest, for a table."""
        return f"{self.median:.2f} [{self.least:.2f}]"

    def measure(self) -> None:
        """Do it once."""
        started = time.perf_counter()
        self.act()
        took = time.perf_counter() - started
        self.seconds.append(took)
        sys.stderr.write(f"  {self.tool}: {self.what}: {took:.2f} s\n")


def in_turn(cases: Sequence[Case], rounds: int) -> None:
    """Measure every case once a round, so that a busy machine is busy for all of them."""
    for number in range(rounds):
        sys.stderr.write(f"round {number + 1} of {rounds}\n")
        for case in cases:
            case.measure()


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def ratio(part: float, whole: float) -> str:
    """Return how often `part` fits into `whole`, as 1/x; nothing where noise left one of them."""
    return f"1/{whole / part:.1f}" if part > 0 and whole > 0 else "in the noise"
